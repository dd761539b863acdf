/** A folder in place of the root of a container: absolute paths in configurations are moved below it. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const fromRoot = /(?<=[\s"':=])\/(?=(?:run\/secrets|etc\/swapgate|app)(?:\/|\b))/g

export class ContainerRoot implements Disposable {
  readonly root = mkdtempSync(join(tmpdir(), 'swapgate-deploy-'))

  /** The path below the folder of what a container has at `path`. */
  at(path: string): string {
    return join(this.root, path)
  }

  /** Puts a text there, with the paths in it moved. */
  write(path: string, text: string): string {
    const file = this.at(path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, this.move(text))
    return file
  }

  /** Puts a file of the project there. */
  copy(path: string, file: string): string {
    return this.write(path, readFileSync(file, 'utf8'))
  }

  /** What `deploy/prepare.sh` makes, with a key at the provider, as the secrets of a container. */
  prepare(providerKey: string): void {
    const folder = this.at('deploy')
    mkdirSync(join(folder, 'secrets'), { recursive: true })
    cpSync('deploy/prepare.sh', join(folder, 'prepare.sh'))
    cpSync('deploy/.env.example', join(folder, '.env'))
    writeFileSync(join(folder, 'secrets/provider_key'), `${providerKey}\n`)
    execFileSync('sh', [join(folder, 'prepare.sh')], { stdio: ['ignore', 'ignore', 'inherit'] })
    cpSync(join(folder, 'secrets'), this.at('run/secrets'), { recursive: true })
    cpSync(this.at('run/secrets/certificate.pem'), this.at('run/secrets/certificate'))
  }

  move(text: string): string {
    return text.replaceAll(fromRoot, `${this.root}/`)
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true })
  }
}
