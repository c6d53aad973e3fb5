// Search in the documentation, and its theme.
export {}
const theme = localStorage.getItem("theme")
if (theme && theme !== "auto") document.documentElement.dataset.theme = theme

const root = document.documentElement.dataset.root ?? ""
const box = document.querySelector<HTMLInputElement>("#search")
const list = document.querySelector<HTMLUListElement>("#found")
let pages: { url: string; title: string; text: string }[] | null = null

async function show() {
  if (!box || !list) return
  pages ??= await fetch(`${root}index.json`).then((response) => response.json())
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean)
  const fits = (text: string) => words.every((word) => text.toLowerCase().includes(word))
  const found = words.length ? pages!.filter((page) => fits(`${page.title} ${page.text}`)) : []
  found.sort((one, two) => Number(fits(two.title)) - Number(fits(one.title)))
  list.replaceChildren(
    ...found.slice(0, 12).map((page) => {
      const item = document.createElement("li")
      const link = document.createElement("a")
      link.href = root + page.url
      link.textContent = page.title
      item.append(link)
      return item
    }),
  )
  list.hidden = !words.length
  if (words.length && !found.length) list.textContent = "Nothing found."
}

box?.addEventListener("input", () => void show())
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && event.target === document.body) {
    event.preventDefault()
    box?.focus()
  }
})
