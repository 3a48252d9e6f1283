/** Keccak-256 of bytes. WebAssembly, and synchronous once it is loaded. */
import { createKeccak } from 'hash-wasm';

export type Keccak = (bytes: Uint8Array) => Uint8Array;

let loaded: Promise<Keccak> | null = null;

export function loadKeccak(): Promise<Keccak> {
  loaded ??= createKeccak(256).then((hasher) => (bytes) => hasher.init().update(bytes).digest('binary'));
  return loaded;
}
