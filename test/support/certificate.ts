/** X.509 certificates made on the spot, good and bad: just enough of DER for them (RFC 5280). */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

export interface Certified {
  readonly name: string
  readonly cert: string
  readonly key: string
  readonly privateKey: KeyObject
}

export interface CertificateFacts {
  readonly name: string
  /** Itself unless given. */
  readonly issuer?: Certified
  readonly from?: Date
  readonly until?: Date
}

const day = 86_400_000

/** A certificate for one DNS name, or of an authority if there is no issuer. */
export function certify({
  name,
  issuer,
  from = new Date(Date.now() - day),
  until = new Date(Date.now() + day),
}: CertificateFacts): Certified {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const extension = issuer
    ? sequence(oid(0x55, 0x1d, 0x11), tagged(0x04, sequence(tagged(0x82, Buffer.from(name)))))
    : sequence(oid(0x55, 0x1d, 0x13), tagged(0x01, Buffer.of(0xff)), tagged(0x04, sequence(tagged(0x01, Buffer.of(0xff)))))
  const facts = sequence(
    tagged(0xa0, tagged(0x02, Buffer.of(2))),
    tagged(0x02, Buffer.of(1 + Math.floor(Math.random() * 100))),
    ecdsaWithSha256,
    nameOf(issuer?.name ?? name),
    sequence(time(from), time(until)),
    nameOf(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(extension)),
  )
  const signature = sign('sha256', facts, issuer?.privateKey ?? privateKey)
  const der = sequence(facts, ecdsaWithSha256, tagged(0x03, Buffer.concat([Buffer.of(0), signature])))
  const cert = `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`
  return { name, cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, privateKey }
}

const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02))

function nameOf(name: string): Buffer {
  return sequence(tagged(0x31, sequence(oid(0x55, 0x04, 0x03), tagged(0x0c, Buffer.from(name)))))
}

/** Two digits of the year: 1950 to 2049. */
function time(at: Date): Buffer {
  return tagged(0x17, Buffer.from(`${at.toISOString().slice(2, 19).replace(/[-T:]/g, '')}Z`))
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts))
}

function oid(...bytes: readonly number[]): Buffer {
  return tagged(0x06, Buffer.from(bytes))
}

function tagged(tag: number, body: Buffer): Buffer {
  const { length } = body
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...size), body])
}
