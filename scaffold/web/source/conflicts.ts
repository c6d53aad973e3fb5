// Conflicts, which stand in a merged file between markers, as scaffold/merge/conflicts.py writes them.

export type Side = { take: "mine" | "theirs" | "both" } | { edit: string }

export interface Region {
  first: number // the line of its first marker, from 0
  last: number
  mine: string[]
  base: string[]
  theirs: string[]
  cause: string
  isPart: boolean // whether it shows only what changes in code that was moved: not to be taken as it is
}

export function findRegions(text: string): Region[] {
  const found: Region[] = []
  const lines = text.split("\n")
  let [first, base, middle] = [-1, -1, -1]
  lines.forEach((row, number) => {
    const line = row.replace(/\r$/, "")
    if (/^<{7}( |$)/.test(line)) [first, base, middle] = [number, -1, -1]
    else if (first >= 0 && base < 0 && /^\|{7}( |$)/.test(line)) [base, middle] = [number, -1]
    else if (first >= 0 && middle < 0 && line === "=======") middle = number
    else if (first >= 0 && middle >= 0 && /^>{7}( |$)/.test(line)) {
      const from = base < 0 ? middle : base
      found.push({
        first,
        last: number,
        mine: lines.slice(first + 1, from),
        base: base < 0 ? [] : lines.slice(base + 1, middle),
        theirs: lines.slice(middle + 1, number),
        cause: line.slice(7).trim(),
        isPart: line.endsWith("; of code that you moved, only what changes"),
      })
      ;[first, base, middle] = [-1, -1, -1]
    }
  })
  return found
}

export function chosenLines(region: Region, side: Side): string[] {
  if ("edit" in side) return side.edit === "" ? [] : side.edit.split("\n")
  if (side.take === "mine") return region.mine
  if (side.take === "theirs") return region.theirs
  return [...region.mine, ...region.theirs]
}

// The text with the chosen lines in place of the conflicts that have been decided
export function resolveAll(text: string, sides: (Side | undefined)[]): string {
  if (!sides.some(Boolean)) return text
  const lines = text.split("\n")
  const kept: string[] = []
  let after = 0
  findRegions(text).forEach((region, place) => {
    const side = sides[place]
    if (!side) return
    kept.push(...lines.slice(after, region.first), ...chosenLines(region, side))
    after = region.last + 1
  })
  return [...kept, ...lines.slice(after)].join("\n")
}
