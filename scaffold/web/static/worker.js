var l=self,a=e=>l.postMessage(e);async function m(){a({progress:"Loading Python"});let e=fetch("generator.zip").then(s=>{if(!s.ok)throw new Error("generator.zip is missing");return s.arrayBuffer()}),o=new URL("./pyodide/",self.location.href).href,{loadPyodide:r}=await import(`${o}pyodide.mjs`),n=await r({indexURL:o});return a({progress:"Loading the generator"}),n.FS.writeFile("/generator.zip",new Uint8Array(await e)),n.runPython(`
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
`),n}var g=m(),f=g.then(e=>e.globals.get("call"));f.then(()=>a({progress:""}),e=>a({broken:`The generator can't be loaded here: ${e.message??e}`}));var t=[],i=!1;async function p(){if(i)return;i=!0;let e=await f;for(;t.length;){let o=t.shift(),[r,n]=e(o.name,o.body).toJs();a({number:o.number,...r?{result:n}:{error:n}}),await new Promise(s=>setTimeout(s))}i=!1,h()}var c=!1;async function h(){if(c)return;c=!0;let e=await g;t.length||e.runPython("import black")}l.onmessage=({data:e})=>{(e.name==="render"||e.name==="ask")&&t.sort((n,s)=>+(n.name==="cost")-+(s.name==="cost"));let r=t.findIndex(n=>n.name==="cost");e.name!=="cost"&&r>=0?t.splice(r,0,e):t.push(e),p()};
