var c=self,a=e=>c.postMessage(e);async function g(){a({progress:"Loading Python"});let e=fetch("generator.zip").then(t=>{if(!t.ok)throw new Error("generator.zip is missing");return t.arrayBuffer()}),r=new URL("./pyodide/",self.location.href).href,{loadPyodide:n}=await import(`${r}pyodide.mjs`),o=await n({indexURL:r});return a({progress:"Loading the generator"}),o.FS.writeFile("/generator.zip",new Uint8Array(await e)),o.runPython(`
import gc, os, sys, zipfile
gc.disable()
with zipfile.ZipFile("/generator.zip") as archive:
    archive.extractall("/generator")
os.remove("/generator.zip")
sys.path.insert(0, "/generator")
os.environ["SCAFFOLD_CACHE_DIR"] = "/generator/cache"
from scaffold.web.browser import start
call = start()
gc.freeze()
gc.enable()
`),o.globals.get("call")}var l=g();l.then(()=>a({progress:""}),e=>a({broken:`The generator can't be loaded here: ${e.message??e}`}));var s=[],i=!1;async function f(){if(i)return;i=!0;let e=await l;for(;s.length;){let r=s.shift(),[n,o]=e(r.name,r.body).toJs();a({number:r.number,...n?{result:o}:{error:o}}),await new Promise(t=>setTimeout(t))}i=!1}c.onmessage=({data:e})=>{(e.name==="render"||e.name==="ask")&&s.sort((o,t)=>+(o.name==="cost")-+(t.name==="cost"));let n=s.findIndex(o=>o.name==="cost");e.name!=="cost"&&n>=0?s.splice(n,0,e):s.push(e),f()};
