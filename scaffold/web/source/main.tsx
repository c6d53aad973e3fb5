// The page: answers on the left, the project beside them.
import { render } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import { call, isStatic, progress, startWorker } from "./backend"
import { beside, Code } from "./code"
import { Counts, Files } from "./files"
import { Questions } from "./questions"
import { Search } from "./search"
import {
  begin, busy, changedOnDisk, changes, ended, fail, files, go, isProject, lastAnswer, notices, open, originals, page, pane,
  problem, readLink, result, start, traceLines, view, wishes,
} from "./store"
import { Conflicts, UpdateBar } from "./update"

function App() {
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus() }}>Skip to the code</a>
      <Header />
      <div class={busy.value ? "bar busy" : "bar"} aria-hidden="true" />
      <Banners />
      <div class={`panes ${pane.value}`}>
        <aside class="form" aria-label="Questions"><Questions /></aside>
        <Files />
        <main id="main" tabIndex={-1} aria-label="Code"><Shown /></main>
      </div>
      <Tabs />
      <About />
    </>
  )
}

function Header() {
  const [theme, setTheme] = useState(localStorage.getItem("theme") ?? "auto")
  useEffect(() => {
    if (theme === "auto") delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = theme
    localStorage.setItem("theme", theme)
  }, [theme])
  const next: Record<string, string> = { auto: "dark", dark: "light", light: "auto" }
  const sign: Record<string, string> = { auto: "◐", dark: "☾", light: "☀" }
  return (
    <header class="top">
      <h1><a href={location.pathname + location.search} title="Start again"><img src="icon.svg" alt="" width="22" height="22" />scaffold</a></h1>
      {isProject.value && <span class="where" title={start.value!.root}>{start.value!.root?.split("/").pop()}</span>}
      <Search />
      <nav aria-label="Site">
        <a class="docs" href="docs/index.html">Docs</a>
        <button type="button" class="icon" title={`Theme: ${theme}`} aria-label={`Theme: ${theme}. Change it`} onClick={() => setTheme(next[theme])}>{sign[theme]}</button>
      </nav>
      {!isProject.value && <Take />}
    </header>
  )
}

// How to get the project

async function save(name: "zip" | "notebook") {
  try {
    const found = await call(name, { wishes: wishes.value, whole: true })
    const bytes = Uint8Array.from(atob(found.content), (sign) => sign.charCodeAt(0))
    const link = document.createElement("a")
    link.href = URL.createObjectURL(new Blob([bytes]))
    link.download = found.name
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
  } catch (error) {
    fail(error)
  }
}

function Take() {
  const dialog = useRef<HTMLDialogElement>(null)
  return (
    <>
      <button type="button" class="primary get" onClick={() => dialog.current?.showModal()}>{isStatic ? "Get it" : "Write"}</button>
      <dialog ref={dialog} aria-labelledby="get-title" onClick={(event) => event.target === dialog.current && dialog.current?.close()}>
        <div class="inside">
          <button type="button" class="close" aria-label="Close" onClick={() => dialog.current?.close()}>×</button>
          <h2 id="get-title">Get {result.value?.name}</h2>
          {!isStatic && <Write />}
          {isStatic && <Download />}
          <section>
            <h3>With one command</h3>
            <Command text={[result.value?.command, ...(result.value?.next ?? [])].join(" && ")} label="Copy the command" />
          </section>
          {!isStatic && <Others />}
          <section>
            <h3>Show it to a colleague</h3>
            <p>{isStatic ? "The link holds your answers." : "The address of this page holds your answers; it works on this machine alone."}</p>
            {isStatic && <Command text={location.href} label="Copy the link" />}
          </section>
        </div>
      </dialog>
    </>
  )
}

function Write() {
  const [folder, setFolder] = useState<string | null>(null)
  const [written, setWritten] = useState<{ folder: string; files: number; next: string[] } | null>(null)
  const [error, setError] = useState("")
  const name = result.value?.name ?? ""
  async function write() {
    setError("")
    setWritten(null)
    try {
      setWritten(await call("write", { wishes: wishes.value, folder: folder ?? name }))
    } catch (problem) {
      setError((problem as Error).message)
    }
  }
  return (
    <section>
      <h3>Into a folder</h3>
      <div class="row">
        <label class="sr" for="folder">Folder</label>
        <span class="root" title={start.value?.root}>{start.value?.root}/</span>
        <input id="folder" value={folder ?? name} spellcheck={false} autocomplete="off" onInput={(event) => setFolder(event.currentTarget.value)} onKeyDown={(event) => event.key === "Enter" && void write()} />
        <button type="button" class="primary" onClick={() => void write()}>Write</button>
      </div>
      <div role="status">
        {error && <p class="error">{error}</p>}
        {written && (
          <>
            <p class="good">Wrote {written.files} files to {written.folder}. Train it:</p>
            <Command text={written.next.join(" && ")} label="Copy the command" />
          </>
        )}
      </div>
    </section>
  )
}

function Download() {
  const name = result.value?.name ?? ""
  const run = (result.value?.next ?? []).join(" && ")
  return (
    <section>
      <h3>Download</h3>
      <p class="buttons">
        <button type="button" class="primary" onClick={() => void save("zip")}>{name}.zip</button>
        <button type="button" onClick={() => void save("notebook")}>One notebook, for Colab</button>
      </p>
      <p>Then, where it was saved:</p>
      <Command text={`unzip -q ${name}.zip && ${run}`} label="Copy the command" />
    </section>
  )
}

function Others() {
  return (
    <section>
      <h3>Take it elsewhere</h3>
      <p class="buttons">
        <button type="button" onClick={() => void save("zip")}>Download a zip</button>
        <button type="button" onClick={() => void save("notebook")}>Download one notebook, for Colab</button>
      </p>
    </section>
  )
}

function Command({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false)
  useEffect(() => setCopied(false), [text])
  return (
    <div class="command">
      <pre tabIndex={0}>{text}</pre>
      <button type="button" onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))} aria-label={label}>{copied ? "Copied" : "Copy"}</button>
    </div>
  )
}

// What has to be said

function Banners() {
  return (
    <div class="banners" role="status">
      {ended.value && (
        <p class="bad">
          {isStatic ? ended.value : <>{ended.value} Start it again to go on: your answers are in the address of this page.</>}
        </p>
      )}
      {problem.value && <p class="bad">{problem.value} <Close onClick={() => (problem.value = "")} /></p>}
      {changedOnDisk.value && (
        <p class="warn">
          The project has changed on the disk. <button type="button" class="link" onClick={() => { changedOnDisk.value = false; void go(wishes.value, "", "replace") }}>Show it as it is now</button>
        </p>
      )}
      {notices.value.map((text) => (
        <p class="warn" key={text}>{text} <Close onClick={() => (notices.value = notices.value.filter((other) => other !== text))} /></p>
      ))}
    </div>
  )
}

function Close({ onClick }: { onClick: () => void }) {
  return <button type="button" class="close" aria-label="Close" onClick={onClick}>×</button>
}

// The code

function Shown() {
  const path = open.value
  const text = files.value[path]
  const original = originals.value[path]
  const change = changes.value[path]
  if (!result.value) return <div class="waiting" aria-busy="true" />
  return (
    <>
      {isProject.value ? <UpdateBar /> : <LastAnswer />}
      <div class="head">
        <h2>{path}</h2>
        {change && <Counts {...change} />}
        <span class="grow" />
        {isProject.value && (
          <label class="pick">
            <span class="sr">Show</span>
            <select value={view.value} onChange={(event) => (view.value = event.currentTarget.value as "changes")}>
              <option value="changes">what the update changes</option>
              <option value="mine">your edits</option>
            </select>
          </label>
        )}
        <button type="button" class="small wide" aria-pressed={beside.value ? "true" : "false"} onClick={() => (beside.value = !beside.value)}>Side by side</button>
        {text !== undefined && <CopyFile text={text} />}
      </div>
      <Conflicts path={path} />
      <Code path={path} text={text ?? ""} original={original ?? ""} compare={true} trace={() => traceLines(path, text ?? "")} />
    </>
  )
}

function CopyFile({ text }: { text: string }) {
  const [copied, setCopied] = useState(false)
  useEffect(() => setCopied(false), [text])
  return <button type="button" class="small" onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}>{copied ? "Copied" : "Copy file"}</button>
}

// code first, then tests, then what only says what was answered
function weight(path: string): number {
  if (path === "train.py") return 0
  if (path.startsWith("tests/")) return 2
  return /\.(py|yaml|sh|sbatch)$/.test(path) ? 1 : 3
}

function LastAnswer() {
  const found = Object.entries(changes.value).sort(([one], [two]) => weight(one) - weight(two))
  const [added, removed] = found.reduce(([plus, minus], [, change]) => [plus + change.added, minus + change.removed], [0, 0])
  const isWaiting = busy.value && isStatic && progress.value
  return (
    <div class="last" aria-live="polite">
      {isWaiting ? (
        <p><span class="spinner" aria-hidden="true" /> {progress.value} …</p>
      ) : !lastAnswer.value ? (
        <p>Change an answer: the lines that it changes light up, in all files.</p>
      ) : (
        <>
          <p>
            <b>{lastAnswer.value}</b>{" "}
            {found.length === 0 ? "changes no line" : <><Counts added={added} removed={removed} kind="" /> in {found.length} file{found.length === 1 ? "" : "s"}</>}
          </p>
          <ul>
            {found.map(([path, change]) => (
              <li key={path}>
                <button type="button" class="small" aria-current={open.value === path ? "true" : undefined} onClick={() => (open.value = path)}>{path} <Counts {...change} /></button>
              </li>
            ))}
          </ul>
          <button type="button" class="small back" title="Take the last answer back" onClick={() => history.back()}>↶ Take back</button>
        </>
      )}
    </div>
  )
}

// On a phone, one pane at a time

function Tabs() {
  const names = { questions: "Answers", files: "Files", code: "Code" } as const
  const number = Object.keys(changes.value).length
  return (
    <nav class="tabs" aria-label="Panes">
      {Object.entries(names).map(([name, title]) => (
        <button type="button" key={name} aria-current={pane.value === name ? "true" : undefined} onClick={() => (pane.value = name as "code")}>
          {title}{name === "files" && number > 0 && <span class="number">{number}</span>}
        </button>
      ))}
    </nav>
  )
}

// A page of documentation beside the form

function About() {
  const dialog = useRef<HTMLDialogElement>(null)
  const [html, setHtml] = useState("")
  const name = page.value
  useEffect(() => {
    if (!name) return
    setHtml("")
    dialog.current?.showModal()
    void fetch(`docs/${name}`).then(async (response) => {
      const found = new DOMParser().parseFromString(await response.text(), "text/html").querySelector("main")
      const base = new URL(`docs/${name}`, location.href.split("#")[0])
      found?.querySelectorAll<HTMLAnchorElement>("a[href]").forEach((link) => {
        link.href = new URL(link.getAttribute("href")!, base).href
        link.target = "_blank"
      })
      found?.querySelectorAll<HTMLImageElement>("img[src]").forEach((image) => (image.src = new URL(image.getAttribute("src")!, base).href))
      setHtml(response.ok && found ? found.innerHTML : "<p>There is no page on this.</p>")
    }).catch(() => setHtml("<p>This page can’t be loaded now.</p>"))
  }, [name])
  return (
    <dialog ref={dialog} class="about" aria-label="Documentation" onClose={() => (page.value = "")} onClick={(event) => event.target === dialog.current && dialog.current?.close()}>
      <div class="inside">
        <button type="button" class="close" aria-label="Close" onClick={() => dialog.current?.close()}>×</button>
        <div class="document" dangerouslySetInnerHTML={{ __html: html }} />
        {name && <p><a href={`docs/${name}`} target="_blank">Open as a page</a></p>}
      </div>
    </dialog>
  )
}

async function watchDisk() {
  if (document.hidden || ended.value || !isProject.value || !result.value) return
  try {
    const { stamp } = await call("stamp")
    if (!busy.value) changedOnDisk.value = stamp !== result.value.stamp
  } catch (error) {
    fail(error)
  }
}

window.addEventListener("popstate", () => void go(readLink(), "going back", "none"))
document.getElementById("page")!.replaceChildren()
render(<App />, document.getElementById("page")!)
void begin().then(() => {
  if (isStatic) startWorker()
  else if (isProject.value) setInterval(() => void watchDisk(), 2500)
})
if (isStatic && "serviceWorker" in navigator && location.protocol !== "file:") void navigator.serviceWorker.register("offline.js")
