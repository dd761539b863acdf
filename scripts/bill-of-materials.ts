/** Writes `swapgate-<version>.cdx.json`: what is in the package, as CycloneDX, from the package itself: `npm run sbom`. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Of an archive that `npm pack` made. */
export function billOfMaterials(archive: string): string {
  const place = mkdtempSync(join(tmpdir(), 'swapgate-bill-'))
  try {
    const folder = join(place, 'swapgate') // npm names the component after its folder
    mkdirSync(folder)
    execFileSync('tar', ['--extract', '--file', archive, '--directory', folder, '--strip-components=1'])
    // npm reads `overrides` of a project only for what is not bundled.
    const { bundleDependencies: _, ...manifest } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as object & {
      bundleDependencies: true
    }
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
    return execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx'], { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 })
  } finally {
    rmSync(place, { recursive: true })
  }
}

if (import.meta.main) {
  const archive = execFileSync('npm', ['pack', '--silent'], { encoding: 'utf8' }).trim()
  const bill = archive.replace(/\.tgz$/, '.cdx.json')
  writeFileSync(bill, billOfMaterials(archive))
  console.log(bill)
}
