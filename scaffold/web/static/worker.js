var c=self,i=e=>c.postMessage(e);async function g(){i({progress:"Loading Python"});let e=fetch("generator.zip").then(t=>{if(!t.ok)throw new Error("generator.zip is missing");return t.arrayBuffer()}),n=new URL("./pyodide/",self.location.href).href,{loadPyodide:r}=await import(`${n}pyodide.mjs`),o=await r({indexURL:n});return i({progress:"Loading the generator"}),o.FS.writeFile("/generator.zip",new Uint8Array(await e)),o.runPython(`
import sys, zipfile
with zipfile.ZipFile("/generator.zip") as archive:
    archive.extractall("/generator")
sys.path.insert(0, "/generator")
import gc
gc.disable()
from scaffold.web.browser import call
gc.enable()
`),o.globals.get("call")}var l=g();l.then(()=>i({progress:""}),e=>i({broken:`The generator can't be loaded here: ${e.message??e}`}));var s=[],a=!1;async function m(){if(a)return;a=!0;let e=await l;for(;s.length;){let n=s.shift(),[r,o]=e(n.name,n.body).toJs();i({number:n.number,...r?{result:o}:{error:o}}),await new Promise(t=>setTimeout(t))}a=!1}c.onmessage=({data:e})=>{(e.name==="render"||e.name==="ask")&&s.sort((o,t)=>+(o.name==="cost")-+(t.name==="cost"));let r=s.findIndex(o=>o.name==="cost");e.name!=="cost"&&r>=0?s.splice(r,0,e):s.push(e),m()};
