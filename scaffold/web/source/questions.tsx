// The form: all open questions, by table, and the features with theirs.
import { useEffect, useId, useState } from "preact/hooks"
import { answer, answerAll, costs, countCosts, drafts, form, isProject, page, start, wishes, wrong } from "./store"
import { call, isStatic } from "./backend"
import type { Choice, Feature, Question } from "./types"

// a choice that can't be made, whatever else is taken back
const isOut = (part: { why?: string; resets?: string[] }) => !!part.why && !part.resets?.length
const telling = (part: { why?: string; resets?: string[] }) => (part.resets?.length ? `resets ${part.resets.join(" and ")}: ${part.why}` : part.why)
const MOST_CHIPS = 7

export function Questions() {
  const found = form.value
  if (!found) return <div class="waiting" aria-busy="true" />
  const [first, rest] = [found.tables.filter((t) => t.name !== "training"), found.tables.filter((t) => t.name === "training")]
  return (
    <form class="questions" aria-label="Answers" onSubmit={(event) => event.preventDefault()}>
      {!isProject.value && <Recipes />}
      {first.map((table) => <Table key={table.name} {...table} />)}
      <Features features={found.features} />
      {rest.map((table) => <Table key={table.name} {...table} />)}
    </form>
  )
}

function Recipes() {
  const id = useId()
  const recipes = start.value?.recipes ?? []
  async function take(name: string) {
    const found = await call("recipe", { name })
    const own: Record<string, string> = "project.name" in wishes.value ? { "project.name": wishes.value["project.name"] } : {}
    await answerAll({ ...found.wishes, ...own }, `recipe ${name}`)
  }
  return (
    <div class="recipes">
      <label for={id}>Start from</label>
      <select
        id={id}
        value=""
        onChange={(event) => {
          const name = event.currentTarget.value
          event.currentTarget.value = ""
          if (name === "defaults") void answerAll({}, "all defaults")
          else if (name) void take(name)
        }}
      >
        <option value="">a recipe …</option>
        <option value="defaults">the defaults</option>
        {recipes.map((recipe) => <option key={recipe.name} value={recipe.name}>{recipe.name}: {recipe.help}</option>)}
      </select>
    </div>
  )
}

function Table({ name, title, questions }: { name: string; title: string; questions: Question[] }) {
  return (
    <section class="table" aria-label={title}>
      <h2>{title}</h2>
      <Fields name={name} questions={questions} />
    </section>
  )
}

function Fields({ name, questions }: { name: string; questions: Question[] }) {
  const coarse = questions.filter((question) => !question.finer)
  const finer = questions.filter((question) => question.finer)
  const [open, setOpen] = useState(false)
  const isOpen = open || finer.some((question) => question.isSet)
  return (
    <>
      {coarse.map((question) => <Field key={question.key} question={question} />)}
      {finer.length > 0 && (
        <details class="finer" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)} data-table={name}>
          <summary>{finer.length} more</summary>
          {isOpen && finer.map((question) => <Field key={question.key} question={question} />)}
        </details>
      )}
    </>
  )
}

function Field({ question }: { question: Question }) {
  const id = useId()
  const error = wrong.value[question.key]
  const isGroup = question.kind === "columns" || (question.choices.length > 0 && question.choices.length <= MOST_CHIPS && question.kind !== "bool")
  const label = (
    <>
      {question.text}
      {question.isSet && <Reset name={question.key} value={question.default} />}
    </>
  )
  const hint = `${id}-hint`
  const control = <Control id={id} question={question} hint={hint} error={error} />
  return (
    <div class={`field ${question.kind} ${question.isSet ? "set" : ""}`} data-key={question.key}>
      {isGroup ? (
        <fieldset aria-describedby={hint}>
          <legend>{label}</legend>
          {control}
        </fieldset>
      ) : (
        <>
          <label for={id}>{question.text}</label>
          {question.isSet && <Reset name={question.key} value={question.default} />}
          {control}
        </>
      )}
      <p class="hint" id={hint}>
        {error ? <span class="error" role="alert">{error}</span> : <Hint question={question} />}
      </p>
      {question.found && <pre class="found">{question.found}</pre>}
    </div>
  )
}

function Hint({ question }: { question: Question }) {
  const chosen = question.choices.find((choice) => choice.value === question.value)
  const other = question.kind === "bool" && question.choices.find((choice) => choice.why)
  const inAccelerate = question.accelerate ? `, in Accelerate ${question.accelerate}` : ""
  return (
    <>
      {chosen?.help ? `${chosen.help} ` : question.choices.length === 0 || question.kind === "bool" ? `${question.help} ` : ""}
      {other && <span class="why">{telling(other)} </span>}
      <code title={question.field ? `in the script: Config.${question.field}` : undefined}>{question.key}{inAccelerate}</code>
    </>
  )
}

function Reset({ name, value }: { name: string; value: string }) {
  const shown = value === "" ? "none" : value
  return (
    <button type="button" class="reset" title={`Back to ${shown}`} aria-label={`${name}: back to ${shown}`} onClick={() => void answer(name, value)}>
      ↺
    </button>
  )
}

interface ControlProps {
  id: string
  question: Question
  hint: string
  error?: string
}

function Control({ id, question, hint, error }: ControlProps) {
  const { key, kind, choices } = question
  if (kind === "bool") return <Switch id={id} question={question} hint={hint} />
  if (kind === "columns") return <Columns question={question} />
  if (choices.length > MOST_CHIPS) {
    return (
      <select id={id} value={String(question.value)} aria-describedby={hint} onChange={(event) => void answer(key, event.currentTarget.value)}>
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value} disabled={isOut(choice)}>
            {choice.value}{choice.resets?.length ? ` (resets ${choice.resets.join(", ")})` : choice.why ? ` (${choice.why})` : ""}
          </option>
        ))}
      </select>
    )
  }
  if (choices.length) return <Chips id={id} question={question} />
  return <Line id={id} question={question} hint={hint} error={error} />
}

function Switch({ id, question, hint }: Omit<ControlProps, "error">) {
  const isOn = question.value === "yes"
  const other = question.choices.find(({ value }) => value !== question.value)
  return (
    <input
      id={id}
      type="checkbox"
      role="switch"
      class="switch"
      checked={isOn}
      disabled={!!other && isOut(other)}
      aria-describedby={hint}
      onChange={(event) => void answer(question.key, event.currentTarget.checked ? "yes" : "no")}
    />
  )
}

function Chips({ id, question }: { id: string; question: Question }) {
  const [why, setWhy] = useState<Choice | null>(null)
  return (
    <div class="chips">
      {question.choices.map((choice) => {
        const name = `${id}-${choice.value}`
        return (
          <span key={choice.value} class="chip" onMouseEnter={() => setWhy(choice)} onMouseLeave={() => setWhy(null)}>
            <input
              type="radio"
              name={id}
              id={name}
              checked={question.value === choice.value}
              aria-disabled={isOut(choice) ? "true" : undefined}
              aria-describedby={choice.why ? `${name}-why` : undefined}
              onFocus={() => setWhy(choice.why ? choice : null)}
              onBlur={() => setWhy(null)}
              onClick={(event) => {
                if (!isOut(choice)) return
                event.preventDefault()
                setWhy(choice)
              }}
              onChange={() => !isOut(choice) && void answer(question.key, choice.value)}
            />
            <label for={name} class={isOut(choice) ? "out" : choice.why ? "resets" : ""}>{choice.value}</label>
            {choice.why && <span class="sr" id={`${name}-why`}>{telling(choice)}</span>}
          </span>
        )
      })}
      {why && (why.why || why.help) && (
        <span class="tip" aria-hidden="true">
          <b>{why.value}</b> {isOut(why) ? `can’t be chosen: ${why.why}` : why.why ? telling(why) : why.help}
        </span>
      )}
    </div>
  )
}

function Columns({ question }: { question: Question }) {
  const picked = question.value as string[]
  return (
    <div class="chips">
      {question.choices.map(({ value }) => (
        <label key={value} class="box">
          <input
            type="checkbox"
            checked={picked.includes(value)}
            onChange={(event) => {
              const left = question.choices.map((choice) => choice.value).filter((name) => (name === value ? event.currentTarget.checked : picked.includes(name)))
              void answer(question.key, left.join(","))
            }}
          />
          {value}
        </label>
      ))}
    </div>
  )
}

function Line({ id, question, hint, error }: ControlProps) {
  const value = error ? drafts.value[question.key] : String(question.value)
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  const isNumber = question.kind === "int" || question.kind === "float"
  const send = (text: string) => {
    if (text !== value) void answer(question.key, text)
  }
  useEffect(() => {
    if (typed === value) return
    const timer = setTimeout(() => send(typed), 700)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <input
      id={id}
      class={isNumber ? "number" : ""}
      inputMode={question.kind === "int" ? "numeric" : isNumber ? "decimal" : "text"}
      autocomplete="off"
      spellcheck={false}
      value={typed}
      aria-invalid={error ? "true" : undefined}
      aria-describedby={hint}
      onInput={(event) => setTyped(event.currentTarget.value)}
      onBlur={() => send(typed)}
      onKeyDown={(event) => event.key === "Enter" && send(typed)}
    />
  )
}

// features

function Features({ features }: { features: Feature[] }) {
  const [words, setWords] = useState("")
  const [onlyOn, setOnlyOn] = useState(false)
  const on = features.filter((feature) => feature.on).length
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  const shown = features.filter((feature) => {
    const text = `${feature.name} ${feature.title} ${feature.help}`.toLowerCase()
    return wanted.every((word) => text.includes(word)) && (!onlyOn || feature.on)
  })
  const names = shown.map((feature) => feature.name).join(" ")
  useEffect(() => {
    const timer = setTimeout(() => void countCosts(names.split(" ").filter(Boolean)), isStatic ? 2500 : 900)
    return () => clearTimeout(timer)
  }, [names, wishes.value])
  return (
    <section class="table features" aria-label="Features">
      <h2>Features <span class="count">{on} of {features.length} on</span></h2>
      <div class="filter">
        <input type="search" placeholder="Filter features" aria-label="Filter features" value={words} onInput={(event) => setWords(event.currentTarget.value)} />
        <label class="box"><input type="checkbox" checked={onlyOn} onChange={(event) => setOnlyOn(event.currentTarget.checked)} /> on</label>
      </div>
      <ul>
        {shown.map((feature) => <FeatureRow key={feature.name} feature={feature} />)}
        {shown.length === 0 && <li class="none">No feature matches.</li>}
      </ul>
    </section>
  )
}

function FeatureRow({ feature }: { feature: Feature }) {
  const id = useId()
  const lines = costs.value[feature.name]
  return (
    <li class={`feature ${feature.on ? "on" : ""} ${isOut(feature) ? "out" : ""} ${feature.isSet ? "set" : ""}`} data-key={feature.key}>
      <input
        id={id}
        type="checkbox"
        checked={feature.on}
        aria-describedby={`${id}-help`}
        aria-disabled={isOut(feature) ? "true" : undefined}
        onClick={(event) => {
          if (isOut(feature)) event.preventDefault()
        }}
        onChange={(event) => !isOut(feature) && void answer(feature.key, String(event.currentTarget.checked))}
      />
      <div>
        <div class="name">
          <label for={id}>{feature.title}</label>
          {typeof lines === "number" && <span class="cost" title={`${feature.on ? "it has" : "it adds"} ${lines} lines`}>{lines > 0 ? "+" : lines < 0 ? "−" : ""}{Math.abs(lines)}<span class="sr"> lines</span></span>}
          <button type="button" class="about" aria-label={`About ${feature.title}`} title="What it does, and what it adds" onClick={() => (page.value = `features/${feature.name}.html`)}>
            ?
          </button>
        </div>
        <p class="hint" id={`${id}-help`}>{feature.help}{feature.why && <span class="why"> {telling(feature)}</span>}</p>
        {feature.on && feature.questions.length > 0 && <Fields name={feature.name} questions={feature.questions} />}
      </div>
    </li>
  )
}
