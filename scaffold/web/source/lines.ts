// What changed between two versions of the files, in lines.
import { Change as Difference, Chunk, diff, presentableDiff } from "@codemirror/merge"
import { Text } from "@codemirror/state"

export interface Change {
  added: number
  removed: number
  kind: "new" | "gone" | "changed"
}

// Whole lines are compared first: a line that stands in both is never lit up, however much its neighbours are like it
export const byLines = { override: diffLines }

function diffLines(one: string, two: string): readonly Difference[] {
  const known = new Map<string, string>() // each line as one sign
  const asSigns = (rows: string[]) => rows.map((row) => known.get(row) ?? (known.set(row, String.fromCharCode(known.size + 1)), known.get(row)!)).join("")
  const [mine, theirs] = [one, two].map((text) => text.split(/(?<=\n)/))
  const [startsOne, startsTwo] = [mine, theirs].map(starts)
  return diff(asSigns(mine), asSigns(theirs)).flatMap((part) => {
    const [fromA, toA, fromB, toB] = [startsOne[part.fromA], startsOne[part.toA], startsTwo[part.fromB], startsTwo[part.toB]]
    if (fromA === toA || fromB === toB) return [new Difference(fromA, toA, fromB, toB)]
    const inside = presentableDiff(one.slice(fromA, toA), two.slice(fromB, toB))
    return inside.map((found) => new Difference(fromA + found.fromA, fromA + found.toA, fromB + found.fromB, fromB + found.toB))
  })
}

function starts(rows: string[]): number[] {
  const found = [0]
  for (const row of rows) found.push(found[found.length - 1] + row.length)
  return found
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
  for (const chunk of Chunk.build(Text.of(one.split("\n")), Text.of(two.split("\n")), byLines)) {
    added += lines(two.slice(chunk.fromB, chunk.toB))
    removed += lines(one.slice(chunk.fromA, chunk.toA))
  }
  return { added, removed }
}
