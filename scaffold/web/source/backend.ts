// Calls go to the local server, or in the exported page to Python in a worker.
import { signal } from "@preact/signals"

export class Refused extends Error {} // what was asked for can't be done: the message says why
export class Ended extends Error {} // nobody answers any more

const element = document.getElementById("prepared")
export const prepared = element ? JSON.parse(element.textContent!) : null
export const isStatic = prepared !== null
export const progress = signal(isStatic ? "Loading the generator" : "") // of the worker, "" when it is ready

const token = new URLSearchParams(location.search).get("token") ?? ""

async function ask(name: string, body: object): Promise<any> {
  let response: Response
  let result: any
  try {
    response = await fetch(`call/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Scaffold-Token": token },
      body: JSON.stringify(body),
    })
    result = await response.json()
  } catch { // perhaps in the middle of its answer
    throw new Ended("`scaffold web` has ended.")
  }
  if (response.status === 403) throw new Ended(result.error)
  if (!response.ok) throw new Refused(result.error)
  return result
}

interface Waiting {
  resolve: (value: any) => void
  reject: (error: Error) => void
}
let worker: Worker | null = null
let number = 0
const waiting = new Map<number, Waiting>()

export function startWorker() {
  worker ??= new Worker("worker.js", { type: "module" })
  worker.onmessage = ({ data }) => {
    if ("progress" in data) progress.value = data.progress
    else if ("broken" in data) {
      progress.value = ""
      for (const each of waiting.values()) each.reject(new Ended(data.broken))
    } else {
      const each = waiting.get(data.number)!
      waiting.delete(data.number)
      if ("error" in data) each.reject(new Refused(data.error))
      else each.resolve(JSON.parse(data.result))
    }
  }
}

function post(name: string, body: object): Promise<any> {
  startWorker()
  return new Promise((resolve, reject) => {
    waiting.set(++number, { resolve, reject })
    worker!.postMessage({ number, name, body: JSON.stringify(body) })
  })
}

export function call(name: string, body: { wishes?: object } & Record<string, unknown> = {}): Promise<any> {
  const isFirst = !body.wishes || !Object.keys(body.wishes).length
  if (prepared && isFirst && prepared[name]) return Promise.resolve(structuredClone(prepared[name]))
  return isStatic ? post(name, body) : ask(name, body)
}
