// A project that exists: what an update would do, its conflicts, and its undo.
import { useId, useState } from "preact/hooks"
import { call } from "./backend"
import { chosenLines, findRegions, resolveAll, type Region, type Side } from "./conflicts"
import { busy, changedOnDisk, fail, go, open, problem, result, sides, unresolved, view, wishes } from "./store"

export function Conflicts({ path }: { path: string }) {
  const text = result.value?.files[path]
  if (text === undefined || view.value !== "changes") return null
  if (path.endsWith(".ipynb") && result.value?.conflicts?.some((conflict) => conflict.path === path)) {
    return (
      <section class="conflicts" aria-label={`Conflicts in ${path}`}>
        <p>They are in the sources of cells: decide them in Jupyter, or with <code>scaffold resolve</code>.</p>
      </section>
    )
  }
  const regions = findRegions(text)
  if (!regions.length) return null
  return (
    <section class="conflicts" aria-label={`Conflicts in ${path}`}>
      {regions.map((region, place) => (
        <Conflict key={`${path}${place}`} region={region} place={place} number={regions.length} path={path} />
      ))}
    </section>
  )
}

function choose(path: string, place: number, side: Side | undefined) {
  const chosen = [...(sides.value[path] ?? [])]
  chosen[place] = side
  sides.value = { ...sides.value, [path]: chosen }
}

interface Props {
  region: Region
  place: number
  number: number
  path: string
}

function Conflict({ region, place, number, path }: Props) {
  const id = useId()
  const side = sides.value[path]?.[place]
  const indent = commonIndent([...region.mine, ...region.base, ...region.theirs])
  const isEdit = side && "edit" in side
  const took = (name: string) => (side && "take" in side && side.take === name ? "true" : "false")
  return (
    <article class={side ? "conflict decided" : "conflict"} aria-labelledby={id}>
      <h3 id={id}>
        {side ? "✓ " : ""}Conflict {place + 1} of {number}: <span>{region.cause}</span>
      </h3>
      <div class="sides">
        <Part title="Yours" lines={region.mine} base={region.base} indent={indent} />
        <Part title="Generated before" lines={region.base} base={region.base} indent={indent} />
        <Part title="New" lines={region.theirs} base={region.base} indent={indent} />
      </div>
      <fieldset class="choose" aria-label="Which lines to keep" disabled={busy.value}>
        <button type="button" aria-pressed={took("mine") as "true"} onClick={() => choose(path, place, { take: "mine" })}>Keep yours</button>
        <button type="button" disabled={region.isPart} aria-pressed={took("theirs") as "true"} onClick={() => choose(path, place, { take: "theirs" })}>Take new</button>
        <button type="button" disabled={region.isPart} aria-pressed={took("both") as "true"} onClick={() => choose(path, place, { take: "both" })}>Both</button>
        <button
          type="button"
          aria-pressed={isEdit ? "true" : "false"}
          onClick={() => choose(path, place, { edit: chosenLines(region, side ?? { take: "both" }).join("\n") })}
        >
          Edit
        </button>
        {side && <button type="button" class="quiet" onClick={() => choose(path, place, undefined)}>Reopen</button>}
      </fieldset>
      {isEdit && (
        <textarea
          aria-label="The lines to write here"
          spellcheck={false}
          rows={Math.max(3, side.edit.split("\n").length)}
          value={side.edit}
          onInput={(event) => choose(path, place, { edit: event.currentTarget.value })}
        />
      )}
    </article>
  )
}

// the blanks that all lines begin with are not shown
function commonIndent(lines: string[]): number {
  const found = lines.filter((line) => line.trim()).map((line) => line.length - line.trimStart().length)
  return found.length ? Math.min(...found) : 0
}

function Part({ title, lines, base, indent }: { title: string; lines: string[]; base: string[]; indent: number }) {
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <pre tabIndex={0}>
        {lines.length === 0 ? <i>no lines</i> : lines.map((line) => <div class={base.includes(line) ? "" : "lit"}>{line.slice(indent) || " "}</div>)}
      </pre>
    </figure>
  )
}

export function UpdateBar() {
  const found = result.value
  const [told, tell] = useState("")
  const [isBusy, setBusy] = useState(false)
  const [offer, setOffer] = useState(false) // to undo, and keep what was edited since
  if (!found?.today) return null
  const conflicts = found.conflicts ?? []
  const isOpen = !!found.open
  const touched = Object.keys(found.files).filter((path) => found.files[path] !== found.today![path]).length
    + Object.keys(found.today).filter((path) => !(path in found.files)).length

  const own = Object.keys(found.generated!).filter((path) => found.today![path] !== found.generated![path])
  const edited = own.length
  const showEdits = () => {
    view.value = "mine"
    if (!own.includes(open.value)) open.value = own[0]
  }

  async function run(name: string, body: Record<string, unknown>) {
    setBusy(true)
    setOffer(false)
    try {
      const reply = await call(name, body)
      tell([reply.told, ...(reply.notes ?? [])].join(" "))
      problem.value = ""
      sides.value = {}
      changedOnDisk.value = false
      await go({}, "", "replace")
    } catch (error) {
      setOffer(name === "undo" && String(error).includes("--keep-copy"))
      fail(error)
      if (String(error).includes("has changed on the disk")) await show(problem.value)
    } finally {
      setBusy(false)
    }
  }
  // the project as it is now, below what was refused
  async function show(reason: string) {
    await go(wishes.value, "", "replace")
    problem.value = reason
  }
  const resolved = () =>
    Object.fromEntries(Object.entries(sides.value).filter(([, chosen]) => chosen.some(Boolean)).map(([path, chosen]) => [path, resolveAll(found.files[path], chosen)]))

  const body = { wishes: wishes.value, resolved: resolved(), stamp: found.stamp, plan: found.plan }
  const left = unresolved.value
  return (
    <div class="update" aria-live="polite">
      {busy.value && <p class="merging"><span class="spinner" aria-hidden="true" /> Merging …</p>}
      {isOpen ? (
        <p>
          The last update left <b>{conflicts.length} conflict{conflicts.length === 1 ? "" : "s"}</b>. Decide them, then write them.
        </p>
      ) : touched ? (
        <p>
          {found.changed?.length ? (
            <>{found.changed.map(([key, was, is]) => <span class="changed" key={key}><code>{key}</code> {was} → <b>{is}</b></span>)}</>
          ) : (
            "Newer templates: "
          )}
          {" "}An update changes {touched} file{touched === 1 ? "" : "s"}
          {conflicts.length > 0 && <>; <button type="button" class="link" onClick={() => { open.value = conflicts[0].path; view.value = "changes" }}>{conflicts.length} conflict{conflicts.length === 1 ? "" : "s"}, {left} to decide</button></>}
          .
        </p>
      ) : (
        <p>{told || "The project matches its answers. Change one to see what an update would do."}{" "}
          {edited > 0 && view.value !== "mine" && <button type="button" class="link" onClick={showEdits}>You edited {edited} file{edited === 1 ? "" : "s"}</button>}
        </p>
      )}
      {touched > 0 && told && <p class="told">{told}</p>}
      <div class="actions">
        {found.undo !== null && found.undo !== undefined && (
          <button type="button" disabled={isBusy || busy.value} title={found.undo} onClick={() => void run("undo", {})}>Undo the last update</button>
        )}
        {offer && <button type="button" disabled={isBusy || busy.value} onClick={() => void run("undo", { keepCopy: true })}>Undo, and keep my versions as NAME.kept</button>}
        {isOpen ? (
          <button type="button" class="primary" disabled={isBusy || busy.value || left > 0} onClick={() => void run("settle", body)}>Write the decisions</button>
        ) : (
          <button type="button" class="primary" disabled={isBusy || busy.value || touched === 0} onClick={() => void run("apply", body)}>
            {left > 0 ? `Apply, and leave ${left} conflict${left === 1 ? "" : "s"} in the files` : "Apply the update"}
          </button>
        )}
      </div>
      {[...(found.warnings ?? []), ...(found.notes ?? [])].length > 0 && (
        <details class="remarks" open={(found.warnings ?? []).length > 0}>
          <summary>{(found.warnings ?? []).length ? `${found.warnings!.length} to look at` : "Notes"}</summary>
          <ul>{[...(found.warnings ?? []), ...(found.notes ?? [])].map((text) => <li key={text}>{text}</li>)}</ul>
        </details>
      )}
    </div>
  )
}
