// Python in the browser: the same calls as the local server's.
export {}
const scope = self as unknown as DedicatedWorkerGlobalScope
const tell = (message: object) => scope.postMessage(message)

async function load() {
  tell({ progress: "Loading Python" })
  const code = fetch("generator.zip").then((response) => {
    if (!response.ok) throw new Error("generator.zip is missing")
    return response.arrayBuffer()
  })
  const location = new URL("./pyodide/", self.location.href).href
  const { loadPyodide } = await import(/* @vite-ignore */ `${location}pyodide.mjs`)
  const python = await loadPyodide({ indexURL: location })
  tell({ progress: "Loading the generator" })
  python.FS.writeFile("/generator.zip", new Uint8Array(await code))
  python.runPython(`
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
`)
  return python
}

const python = load()
const ready = python.then((found) => found.globals.get("call"))
ready.then(
  () => tell({ progress: "" }),
  (error) => tell({ broken: `The generator can't be loaded here: ${error.message ?? error}` }),
)

// quiet calls wait until nobody asks for anything else
interface Job {
  number: number
  name: string
  body: string
}
const jobs: Job[] = []
let isRunning = false

async function run() {
  if (isRunning) return
  isRunning = true
  const call = await ready
  while (jobs.length) {
    const job = jobs.shift()!
    const [isGood, text] = call(job.name, job.body).toJs()
    tell({ number: job.number, ...(isGood ? { result: text } : { error: text }) })
    await new Promise((resolve) => setTimeout(resolve)) // other messages come first
  }
  isRunning = false
  void warmUp()
}

// what formats new code takes long to load: it is, once a first answer is on the screen
let isWarm = false
async function warmUp() {
  const found = await python
  if (isWarm || isRunning) return
  isWarm = true
  found.runPython("import black")
}

scope.onmessage = ({ data }: MessageEvent<Job>) => {
  const isNewer = data.name === "render" || data.name === "ask"
  if (isNewer) jobs.sort((one, two) => Number(one.name === "cost") - Number(two.name === "cost"))
  const first = jobs.findIndex((job) => job.name === "cost")
  if (data.name !== "cost" && first >= 0) jobs.splice(first, 0, data)
  else jobs.push(data)
  // what is shown first is asked for first
  void run()
}
