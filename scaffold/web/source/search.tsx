// One search: settings and features, code, documentation.
import { useEffect, useId, useRef, useState } from "preact/hooks"
import { goTo } from "./code"
import { files, form, open, page, pane } from "./store"

interface Hit {
  kind: string
  title: string
  text: string
  act: () => void
}

let index: Promise<{ url: string; title: string; text: string }[]> | null = null

async function readIndex() {
  const response = await fetch("docs/index.json")
  return response.ok ? response.json() : []
}

export function showField(key: string) {
  pane.value = "questions"
  setTimeout(() => {
    const table = key.split(".")[0]
    document.querySelector<HTMLDetailsElement>(`details[data-table="${table}"]`)?.setAttribute("open", "")
    setTimeout(() => {
      const element = document.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)
      element?.scrollIntoView({ block: "center" })
      element?.querySelector<HTMLElement>("input, select, button")?.focus({ preventScroll: true })
      element?.animate([{ background: "var(--lit)" }, { background: "transparent" }], 1500)
    })
  })
}

function find(words: string[], pages: { url: string; title: string; text: string }[]): Hit[] {
  const fits = (text: string) => words.every((word) => text.includes(word))
  const hits: Hit[] = []
  const parts = form.value
  if (parts) {
    for (const feature of parts.features) {
      if (fits(`${feature.key} ${feature.title} ${feature.help}`.toLowerCase())) {
        hits.push({ kind: "Feature", title: feature.title, text: feature.help, act: () => showField(feature.key) })
      }
    }
    for (const question of [...parts.tables, ...parts.features].flatMap((part) => part.questions)) {
      const choices = question.choices.map((choice) => choice.value).join(" ")
      if (fits(`${question.key} ${question.text} ${question.help} ${choices}`.toLowerCase())) {
        hits.push({ kind: "Setting", title: question.key, text: question.text, act: () => showField(question.key) })
      }
    }
  }
  const settings = hits.slice(0, 8)
  const code: Hit[] = []
  for (const [path, text] of Object.entries(files.value)) {
    text.split("\n").forEach((line, number) => {
      if (code.length < 8 && fits(line.toLowerCase())) {
        code.push({
          kind: "Code",
          title: `${path}:${number + 1}`,
          text: line.trim(),
          act: () => {
            goTo.value = { path, line: number + 1 }
            open.value = path
            pane.value = "code"
          },
        })
      }
    })
  }
  const docs = pages
    .filter((entry) => fits(`${entry.title} ${entry.text}`.toLowerCase()))
    .sort((one, two) => Number(fits(two.title.toLowerCase())) - Number(fits(one.title.toLowerCase())))
    .slice(0, 6)
    .map((entry) => ({ kind: "Page", title: entry.title, text: excerpt(entry.text, words[0]), act: () => void (page.value = entry.url) }))
  return [...settings, ...code, ...docs]
}

function excerpt(text: string, word: string): string {
  const place = Math.max(text.toLowerCase().indexOf(word) - 30, 0)
  return text.slice(place, place + 110)
}

export function Search() {
  const id = useId()
  const box = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState("")
  const [hits, setHits] = useState<Hit[]>([])
  const [chosen, setChosen] = useState(0)
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const inField = (event.target as HTMLElement).matches("input, textarea, select, [contenteditable=true]")
      if ((event.key === "/" && !inField) || (event.key === "k" && (event.ctrlKey || event.metaKey))) {
        event.preventDefault()
        box.current?.focus()
      }
    }
    document.addEventListener("keydown", focus)
    return () => document.removeEventListener("keydown", focus)
  }, [])
  useEffect(() => {
    const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
    let isCurrent = true
    if (!words.length) setHits([])
    else {
      index ??= readIndex().catch(() => [])
      void index.then((pages) => {
        if (!isCurrent) return
        setHits(find(words, pages))
        setChosen(0)
      })
    }
    return () => {
      isCurrent = false
    }
  }, [typed, form.value, files.value])
  const take = (hit: Hit) => {
    setOpen(false)
    box.current?.blur()
    hit.act()
  }
  const isShown = isOpen && typed.trim() !== ""
  return (
    <div class="search" role="search">
      <input
        ref={box}
        type="search"
        role="combobox"
        aria-label="Search settings, features, code and documentation"
        placeholder="Search"
        aria-expanded={isShown}
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={isShown && hits.length ? `${id}-${chosen}` : undefined}
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value)
          setOpen(true)
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setTimeout(() => setOpen(false), 150)}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setChosen(Math.min(chosen + 1, hits.length - 1))
          else if (event.key === "ArrowUp") setChosen(Math.max(chosen - 1, 0))
          else if (event.key === "Enter" && hits[chosen]) take(hits[chosen])
          else if (event.key === "Escape") box.current?.blur()
          else return
          event.preventDefault()
        }}
      />
      <kbd aria-hidden="true">/</kbd>
      <div id={id} role="listbox" aria-label="Found" class="hits" hidden={!isShown}>
        {hits.map((hit, place) => (
          <div
            key={`${hit.kind}${hit.title}${place}`}
            id={`${id}-${place}`}
            role="option"
            aria-selected={place === chosen}
            onMouseDown={(event) => {
              event.preventDefault()
              take(hit)
            }}
          >
            <span class="kind">{hit.kind}</span> <b>{hit.title}</b> <span class="text">{hit.text}</span>
          </div>
        ))}
        {isShown && !hits.length && <div role="option" aria-selected="false" aria-disabled="true" class="none">Nothing found.</div>}
      </div>
    </div>
  )
}
