// Keeps the files of the exported page, so that it works without a network after the first visit.
export {}
const scope = self as unknown as ServiceWorkerGlobalScope
const FILES = "scaffold-page"

// what the page needs: it was loaded before this script could see it
const NEEDED = ["./", "page.js", "page.css", "icon.svg", "worker.js", "generator.zip"]
const PYTHON = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "pyodide-lock.json", "python_stdlib.zip"]

scope.addEventListener("install", (event) => {
  void scope.skipWaiting()
  const names = [...NEEDED, ...PYTHON.map((name) => `pyodide/${name}`)]
  event.waitUntil(caches.open(FILES).then((cache) => cache.addAll(names)))
})
scope.addEventListener("activate", (event) => event.waitUntil(scope.clients.claim()))
scope.addEventListener("fetch", (event) => {
  const { request } = event
  if (request.method !== "GET" || new URL(request.url).origin !== scope.location.origin) return
  event.respondWith(newest(request))
})

// from the network where there is one, else from the last visit
async function newest(request: Request): Promise<Response> {
  const cache = await caches.open(FILES)
  try {
    const response = await fetch(request)
    if (response.ok) await cache.put(request, response.clone())
    return response
  } catch (error) {
    const kept = await cache.match(request, { ignoreSearch: true })
    if (kept) return kept
    throw error
  }
}
