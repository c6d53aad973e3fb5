var l=self,a=e=>l.postMessage(e);async function m(){a({progress:"Loading Python"});let e=fetch("generator.zip").then(t=>{if(!t.ok)throw new Error("generator.zip is missing");return t.arrayBuffer()}),n=new URL("./pyodide/",self.location.href).href,{loadPyodide:r}=await import(`${n}pyodide.mjs`),o=await r({indexURL:n});return a({progress:"Loading the generator"}),o.FS.writeFile("/generator.zip",new Uint8Array(await e)),o.runPython(`
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
`),o}var g=m(),f=g.then(e=>e.globals.get("call"));f.then(()=>a({progress:""}),e=>a({broken:`The generator can't be loaded here: ${e.message??e}`}));var s=[],i=!1;async function p(){if(i)return;i=!0;let e=await f;for(;s.length;){let n=s.shift(),[r,o]=e(n.name,n.body).toJs();a({number:n.number,...r?{result:o}:{error:o}}),await new Promise(t=>setTimeout(t))}i=!1,u()}var c=!1;async function u(){let e=await g;c||i||(c=!0,e.runPython("import black"))}l.onmessage=({data:e})=>{(e.name==="render"||e.name==="ask")&&s.sort((o,t)=>+(o.name==="cost")-+(t.name==="cost"));let r=s.findIndex(o=>o.name==="cost");e.name!=="cost"&&r>=0?s.splice(r,0,e):s.push(e),p()};
