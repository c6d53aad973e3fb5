// The project as a tree, with what changed in each file.
import { changes, files, open, originals, pane, result } from "./store"

interface Folder {
  name: string
  path: string
  folders: Folder[]
  files: string[]
}

function asTree(paths: string[]): Folder {
  const root: Folder = { name: "", path: "", folders: [], files: [] }
  for (const path of paths) {
    let here = root
    const parts = path.split("/")
    for (const part of parts.slice(0, -1)) {
      let next = here.folders.find((folder) => folder.name === part)
      if (!next) here.folders.push((next = { name: part, path: `${here.path}${part}/`, folders: [], files: [] }))
      here = next
    }
    here.files.push(path)
  }
  return root
}

export function Files() {
  const paths = [...new Set([...Object.keys(files.value), ...Object.keys(changes.value)])].sort()
  const total = Object.values(files.value).reduce((sum, text) => sum + text.split("\n").length - 1, 0)
  return (
    <nav class="files" aria-label="Files of the project">
      <h2>{result.value?.name ?? "Files"}</h2>
      <Branch folder={asTree(paths)} />
      <p class="total">{Object.keys(files.value).length} files, {total.toLocaleString("en")} lines</p>
    </nav>
  )
}

function Branch({ folder }: { folder: Folder }) {
  return (
    <ul>
      {folder.files.map((path) => <li key={path}><Row path={path} /></li>)}
      {folder.folders.map((inner) => (
        <li key={inner.path}>
          <details open>
            <summary>{inner.name}/</summary>
            <Branch folder={inner} />
          </details>
        </li>
      ))}
    </ul>
  )
}

function Row({ path }: { path: string }) {
  const change = changes.value[path]
  const conflicts = (result.value?.conflicts ?? []).filter((conflict) => conflict.path === path).length
  const about = result.value
  const isEdited = about?.generated && path in about.generated && about.today?.[path] !== about.generated[path]
  const text = files.value[path] ?? originals.value[path] ?? ""
  return (
    <button
      type="button"
      class={`file ${change?.kind ?? ""}`}
      aria-current={open.value === path ? "true" : undefined}
      onClick={() => {
        open.value = path
        pane.value = "code"
      }}
    >
      <span class="path">{path.slice(path.lastIndexOf("/") + 1)}</span>
      {isEdited && <span class="edited" title="You edited it"><span class="sr">edited by you</span></span>}
      {conflicts > 0 && <span class="clash" title={`${conflicts} conflicts`}>{conflicts} !</span>}
      {change ? <Counts {...change} /> : <span class="lines">{text.split("\n").length - 1}</span>}
    </button>
  )
}

export function Counts({ added, removed, kind }: { added: number; removed: number; kind: string }) {
  return (
    <span class="counts">
      {kind === "new" && <span class="sr">new, </span>}
      {kind === "gone" && <span class="sr">deleted, </span>}
      {added > 0 && <span class="plus">+{added}</span>}
      {removed > 0 && <span class="minus">−{removed}</span>}
    </span>
  )
}
