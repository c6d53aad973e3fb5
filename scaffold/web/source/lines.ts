// What changed between two versions of the files, in lines.
import { Chunk } from "@codemirror/merge"
import { Text } from "@codemirror/state"

export interface Change {
  added: number
  removed: number
  kind: "new" | "gone" | "changed"
}

const lines = (text: string) => text.split("\n").length - 1

export function countChanges(before: Record<string, string>, after: Record<string, string>): Record<string, Change> {
  const found: Record<string, Change> = {}
  for (const path of [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()) {
    const [one, two] = [before[path], after[path]]
    if (one === two) continue
    if (one === undefined) found[path] = { added: lines(two), removed: 0, kind: "new" }
    else if (two === undefined) found[path] = { added: 0, removed: lines(one), kind: "gone" }
    else found[path] = { ...countLines(one, two), kind: "changed" }
  }
  return found
}

function countLines(one: string, two: string) {
  let [added, removed] = [0, 0]
  for (const chunk of Chunk.build(Text.of(one.split("\n")), Text.of(two.split("\n")))) {
    added += lines(two.slice(chunk.fromB, chunk.toB))
    removed += lines(one.slice(chunk.fromA, chunk.toA))
  }
  return { added, removed }
}
