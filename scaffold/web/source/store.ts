// What the page knows, and what it does about an answer. The link holds the answers.
import { batch, computed, signal } from "@preact/signals"
import { call, Ended, Refused } from "./backend"
import { countChanges, type Change } from "./lines"
import { resolveAll, type Side } from "./conflicts"
import type { Feature, Form, Origin, Question, Result, Start, Texts } from "./types"

export const start = signal<Start | null>(null)
export const form = signal<Form | null>(null)
export const result = signal<Result | null>(null)
export const before = signal<Texts | null>(null) // the files before the last answer
export const wishes = signal<Texts>({})
export const drafts = signal<Texts>({}) // typed values that are wrong
export const wrong = signal<Texts>({}) // why
export const lastAnswer = signal("")
export const busy = signal(false)
export const problem = signal("") // what was refused
export const ended = signal("") // nobody answers any more
export const notices = signal<string[]>([])
export const open = signal("train.py")
export const costs = signal<Record<string, number | null>>({})
export const view = signal<"changes" | "mine" | "plain">("changes")
export const pane = signal<"questions" | "files" | "code">("questions") // on a phone
export const page = signal("") // the page of documentation that is open beside the form
export const sides = signal<Record<string, (Side | undefined)[]>>({}) // chosen in each conflict, by file
export const changedOnDisk = signal(false)

export const isProject = computed(() => start.value?.mode === "project")

// the files that are shown
export const files = computed<Texts>(() => {
  const found = result.value
  if (!found) return {}
  if (!found.today) return found.files
  if (view.value === "mine") return found.today
  return Object.fromEntries(
    Object.entries(found.files).map(([path, text]) => [path, resolveAll(text, sides.value[path] ?? [])]),
  )
})

// what they are compared with
export const originals = computed<Texts>(() => {
  const found = result.value
  if (!found) return {}
  if (found.today) return view.value === "mine" ? found.generated! : found.today
  return before.value ?? found.files
})

export const changes = computed<Record<string, Change>>(() => countChanges(originals.value, files.value))

export const unresolved = computed(() => {
  const found = result.value?.conflicts ?? []
  const number: Record<string, number> = {}
  let left = 0
  for (const { path } of found) {
    const place = (number[path] = (number[path] ?? -1) + 1)
    if (!sides.value[path]?.[place]) left += 1
  }
  return left
})

// the link

export function readLink(): Texts {
  const found: Texts = {}
  for (const [key, value] of new URLSearchParams(location.hash.slice(1))) found[key] = value
  return found
}

export function writeLink(texts: Texts): string {
  const query = Object.entries(texts).map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`)
  return query.length ? `#${query.join("&")}` : location.pathname + location.search
}

// answers

export function find(key: string): Question | Feature | undefined {
  const parts = form.value
  if (!parts) return
  const questions = [...parts.tables, ...parts.features].flatMap((part) => part.questions)
  return parts.features.find((feature) => feature.key === key) ?? questions.find((question) => question.key === key)
}

function isDefault(key: string, text: string): boolean {
  const found = find(key)
  if (!found) return false
  return "on" in found ? text === String(found.default) : text === found.default
}

let wanted: Texts = {} // the answers with those that are on their way

export async function answer(key: string, text: string) {
  const next = { ...wanted }
  delete next[key] // the last answer is the last in the list
  if (!isDefault(key, text)) next[key] = text
  await go(next, describe(key, text), "push", key)
}

export async function answerAll(next: Texts, why: string) {
  await go(next, why, "push")
}

function describe(key: string, text: string): string {
  const found = find(key)
  if (found && "on" in found) return `${found.title}: ${text === "true" ? "on" : "off"}`
  return `${key} = ${text === "" ? "none" : text}`
}

let latest = 0

export async function go(next: Texts, why: string, how: "push" | "replace" | "none", key = "") {
  const mine = ++latest
  wanted = next
  const last = result.value?.files ?? null
  busy.value = true
  const rendered: Promise<Result> = call("render", { wishes: next })
  // the code is what one waits for: the questions come after it
  const settle = () => settleForm(next, key, how, mine)
  const asked = rendered.then(settle, settle)
  try {
    const found = await rendered
    if (mine !== latest) return
    if (found.wrong?.[key]) return
    batch(() => {
      if (!isProject.value) before.value = last
      result.value = found
      lastAnswer.value = why
      problem.value = ""
      sides.value = keepSides(last, found)
      showChange()
    })
  } catch (error) {
    if (mine === latest) fail(error)
  } finally {
    if (mine === latest) busy.value = false
  }
  await asked
}

// a choice holds as long as its file is merged to the same text
function keepSides(last: Texts | null, found: Result) {
  return Object.fromEntries(Object.entries(sides.value).filter(([path]) => last?.[path] === found.files[path]))
}

async function settleForm(next: Texts, key: string, how: "push" | "replace" | "none", mine: number) {
  try {
    const found: Form = await call("ask", { wishes: next })
    if (mine !== latest) return
    batch(() => {
      wanted = found.wishes
      const refused = key && found.wrong[key]
      if (refused) {
        drafts.value = { ...drafts.value, [key]: next[key] }
        wrong.value = { ...wrong.value, [key]: found.wrong[key] }
        return
      }
      const { [key]: _, ...others } = wrong.value
      wrong.value = others
      notices.value = [
        ...Object.entries(found.dropped).map(([name, reason]) => `${name} is back to its default: ${reason}`),
        ...Object.entries(found.wrong).map(([name, reason]) => `The link has ${name}: ${reason}`),
      ]
      form.value = found
      wishes.value = found.wishes
      if (how === "push") history.pushState(null, "", writeLink(found.wishes))
      else if (how === "replace") history.replaceState(null, "", writeLink(found.wishes))
    })
    return found
  } catch (error) {
    if (mine === latest) fail(error)
  }
}

export function fail(error: unknown) {
  if (error instanceof Ended) ended.value = error.message
  else if (error instanceof Refused) problem.value = error.message
  else throw error
}

// Show a file that changed, if the open one did not
function showChange() {
  const found = Object.keys(changes.value)
  const conflict = result.value?.conflicts?.[0]
  if (!(open.value in files.value) && !(open.value in originals.value)) open.value = Object.keys(files.value)[0] ?? ""
  if (!found.length || open.value in changes.value) return
  const shown = found.filter((path) => !/^(scaffold\.toml|README\.md|tests\/)/.test(path))
  open.value = conflict?.path ?? shown.find((path) => path === "train.py") ?? shown[0] ?? found[0]
}

export async function begin() {
  try {
    start.value = await call("start")
    document.title = isProject.value ? `scaffold: ${start.value!.root}` : "scaffold"
    // the first answers may be those of a link; the project without them stands in the page already
    await go(readLink(), "", "replace")
    before.value = null
  } catch (error) {
    fail(error)
  }
}

// where the lines of a file come from, once somebody points at one

const traces = new Map<string, Promise<Origin[][]>>()

export function traceLines(file: string, text: string): Promise<Origin[][]> {
  const body = { wishes: wishes.value, file, text }
  const key = JSON.stringify(body)
  if (!traces.has(key)) traces.set(key, call("origins", body).then((found) => found.origins, () => []))
  return traces.get(key)!
}

// the cost of features in lines, while nothing else is asked for

const known = new Map<string, number | null>()

export async function countCosts(names: string[]) {
  const mine = latest
  const link = JSON.stringify(wishes.value)
  for (const name of names) {
    if (mine !== latest || ended.value) return
    const key = `${link} ${name}`
    if (!known.has(key)) {
      try {
        known.set(key, (await call("cost", { wishes: wishes.value, feature: name, quiet: true })).lines)
      } catch (error) {
        return
      }
    }
    if (mine === latest) costs.value = { ...costs.value, [name]: known.get(key)! }
  }
}
