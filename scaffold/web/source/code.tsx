// The open file: colours, line numbers, folding, search, and the lines that changed.
import { python } from "@codemirror/lang-python"
import { yaml } from "@codemirror/lang-yaml"
import { HighlightStyle, Language, StreamLanguage, codeFolding, defineLanguageFacet, foldGutter, foldKeymap, syntaxHighlighting } from "@codemirror/language"
import { shell } from "@codemirror/legacy-modes/mode/shell"
import { toml } from "@codemirror/legacy-modes/mode/toml"
import { MergeView, getChunks, unifiedMergeView } from "@codemirror/merge"
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search"
import { EditorState, type Extension } from "@codemirror/state"
import { EditorView, highlightSpecialChars, hoverTooltip, keymap, lineNumbers } from "@codemirror/view"
import { tags } from "@lezer/highlight"
import { parser as markdown } from "@lezer/markdown"
import { signal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { byLines } from "./lines"
import type { Origin } from "./types"

export const beside = signal(false) // two columns instead of one
export const goTo = signal<{ path: string; line: number } | null>(null)

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.moduleKeyword], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--code-number)" },
  { tag: [tags.comment, tags.meta], color: "var(--code-comment)" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.definition(tags.className), tags.className], color: "var(--code-name)" },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: "var(--code-call)" },
  { tag: [tags.definition(tags.propertyName), tags.propertyName, tags.attributeName], color: "var(--code-property)" },
  { tag: [tags.heading], color: "var(--code-name)", fontWeight: "600" },
  { tag: [tags.link, tags.url], color: "var(--code-string)" },
  { tag: [tags.strong], fontWeight: "600" },
  { tag: [tags.monospace], color: "var(--code-number)" },
])

function language(path: string): Extension {
  if (path.endsWith(".py")) return python()
  if (/\.ya?ml$/.test(path)) return yaml()
  if (path.endsWith(".md")) return new Language(defineLanguageFacet(), markdown, [], "markdown")
  if (path.endsWith(".toml")) return StreamLanguage.define(toml)
  if (/\.(sh|sbatch)$/.test(path) || path === ".gitignore") return StreamLanguage.define(shell)
  return []
}

function basics(path: string, label: string): Extension {
  return [
    lineNumbers(),
    codeFolding(),
    foldGutter({ openText: "⌄", closedText: "›" }),
    highlightSpecialChars(),
    highlightSelectionMatches(),
    search({ top: true }),
    syntaxHighlighting(colours),
    language(path),
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
    keymap.of([...searchKeymap, ...foldKeymap]),
  ]
}

// Where the line under the pointer comes from
function originsOf(trace: () => Promise<Origin[][]>): Extension {
  return hoverTooltip(async (view, position) => {
    const line = view.state.doc.lineAt(position)
    const found = (await trace())[line.number - 1]
    if (!found || !line.text.trim()) return null
    return {
      pos: line.from,
      create() {
        const dom = document.createElement("div")
        dom.className = "origin"
        if (!found.length) dom.append("yours: no template has this line")
        for (const [template, number, condition] of found) {
          const row = dom.appendChild(document.createElement("div"))
          row.append(`templates/${template}:${number} `)
          row.appendChild(document.createElement("b")).textContent = condition
        }
        return { dom }
      },
    }
  })
}

interface Props {
  path: string
  text: string
  original: string
  compare: boolean
  trace: () => Promise<Origin[][]>
}

const places = new Map<string, number>() // how far each file was scrolled

export function Code({ path, text, original, compare, trace }: Props) {
  const element = useRef<HTMLDivElement>(null)
  const shown = useRef("")
  const two = beside.value && compare && original !== text
  useEffect(() => {
    const parent = element.current!
    const label = `The file ${path}`
    const isSame = shown.current === path
    shown.current = path
    if (two) {
      const merge = new MergeView({
        parent,
        a: { doc: original, extensions: [basics(path, `${path}, before`)] },
        b: { doc: text, extensions: [basics(path, `${path}, after`)] },
        gutter: true,
        collapseUnchanged: { margin: 4, minSize: 8 },
        diffConfig: byLines,
      })
      return () => merge.destroy()
    }
    const extensions = [basics(path, label), originsOf(trace)]
    if (compare && original !== text) {
      extensions.push(unifiedMergeView({ original, diffConfig: byLines, mergeControls: false, gutter: true, syntaxHighlightDeletions: true }))
    }
    const view = new EditorView({ parent, state: EditorState.create({ doc: text, extensions }) })
    const chunks = compare ? (getChunks(view.state)?.chunks ?? []) : []
    const wanted = goTo.peek()
    if (wanted?.path === path) {
      const line = view.state.doc.line(Math.min(wanted.line, view.state.doc.lines))
      view.dispatch({ selection: { anchor: line.from, head: line.to }, effects: EditorView.scrollIntoView(line.from, { y: "center" }) })
      goTo.value = null
    } else if (chunks.length && original !== "") {
      const place = Math.min(chunks[0].fromB, view.state.doc.length)
      view.dispatch({ effects: EditorView.scrollIntoView(place, { y: "start", yMargin: 90 }) })
    } else if (isSame || places.has(path)) {
      requestAnimationFrame(() => (view.scrollDOM.scrollTop = places.get(path) ?? 0))
    }
    view.scrollDOM.addEventListener("scroll", () => places.set(path, view.scrollDOM.scrollTop), { passive: true })
    return () => view.destroy()
  }, [path, text, original, compare, two, goTo.value])
  return <div class={two ? "code two" : "code"} ref={element} />
}
