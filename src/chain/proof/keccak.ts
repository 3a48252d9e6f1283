/** Keccak-256 of bytes. WebAssembly, and synchronous once it is loaded. */
import { createKeccak } from 'hash-wasm';

export type Keccak = (bytes: Uint8Array) => Buffer;

let loaded: Promise<Keccak> | null = null;

export function loadKeccak(): Promise<Keccak> {
  loaded ??= createKeccak(256).then((hasher) => (bytes) => {
    const digest = hasher.init().update(bytes).digest('binary');
    return Buffer.from(digest.buffer, digest.byteOffset, digest.length);
  });
  return loaded;
}
