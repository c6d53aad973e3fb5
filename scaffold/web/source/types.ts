// What the calls of scaffold/web/page.py and project.py return.

export type Texts = Record<string, string>

export interface Choice {
  value: string
  help: string
  why?: string // it does not go with the other answers
  resets?: string[] // those that would go back to their defaults; none: it can't be chosen
}

export interface Question {
  key: string
  text: string
  help: string
  value: string | string[]
  default: string
  kind: "int" | "float" | "str" | "bool" | "choice" | "columns"
  choices: Choice[]
  accelerate: string
  finer: boolean
  field: string
  isSet: boolean
  found: string
}

export interface Feature {
  name: string
  key: string
  title: string
  help: string
  on: boolean
  default: boolean
  why: string
  resets: string[]
  isSet: boolean
  questions: Question[]
}

export interface Form {
  tables: { name: string; title: string; questions: Question[] }[]
  features: Feature[]
  dropped: Texts
  wrong: Texts
  wishes: Texts
}

export interface Start {
  version: string
  mode: "new" | "project"
  root?: string
  recipes: { name: string; title: string; help: string }[]
}

export interface Conflict {
  path: string
  line: number
  label: string
}

export type Origin = [template: string, line: number, condition: string]

export interface Result {
  files: Texts
  name: string
  command: string
  next: string[]
  wrong?: Texts // why a typed value is not one
  // of a project that exists
  today?: Texts
  generated?: Texts
  conflicts?: Conflict[]
  open?: boolean // an earlier update left these conflicts
  notes?: string[]
  warnings?: string[]
  changed?: [string, string, string][]
  stamp?: string
  plan?: string
  undo?: string | null
}
