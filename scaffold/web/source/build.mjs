// Builds ../static from the files of this folder: `npm ci && npm run build`.
import { createHash } from "node:crypto"
import { cpSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { build } from "esbuild"

const common = { bundle: true, minify: true, format: "esm", target: "es2022", legalComments: "none" }
await build({ ...common, entryPoints: ["main.tsx"], outfile: "../static/page.js", jsx: "automatic", jsxImportSource: "preact" })
await build({ ...common, entryPoints: ["style.css"], outfile: "../static/page.css" })
await build({ ...common, entryPoints: ["docs.css"], outfile: "../static/docs.css" })
await build({ ...common, entryPoints: ["docs.ts"], outfile: "../static/docs.js" })
await build({ ...common, entryPoints: ["worker.ts"], outfile: "../static/worker.js", external: ["./pyodide/*"] })
await build({ ...common, entryPoints: ["offline.ts"], outfile: "../static/offline.js" })
cpSync("index.html", "../static/index.html")
cpSync("docs.html", "../static/docs.html")
cpSync("icon.svg", "../static/icon.svg")

// what a test compares, so that the built files are never older than their source
const digest = createHash("sha256")
for (const name of readdirSync(".").sort()) {
  if (/\.(ts|tsx|css|html|svg|mjs|json)$/.test(name)) digest.update(`${name}\n`).update(readFileSync(name))
}
writeFileSync("../static/source.txt", digest.digest("hex") + "\n")
