/** Calls the contract verification actions of a running program, as its clients do. */

import type { Hex } from '../../../src/domain/hex';
import type { WorldContract } from './verifiedWorld';
import { eventually } from '../eventually';

export type Json = Record<string, unknown>;
export type Fields = Readonly<Record<string, string>>;

export const statusOf = (guid: unknown): string =>
  `/api?module=contract&action=checkverifystatus&guid=${String(guid)}`;

export function fieldsFor(contract: WorldContract, address: Hex, more: Fields = {}): Fields {
  return {
    apikey: 'k',
    module: 'contract',
    action: 'verifysourcecode',
    contractaddress: address,
    sourceCode: JSON.stringify(contract.input),
    codeformat: 'solidity-standard-json-input',
    contractname: `${contract.path}:${contract.name}`,
    compilerversion: `v${contract.version}`,
    ...more,
  };
}

interface VerifyCalls {
  post(fields: Fields, path?: string): Promise<Json>;
  get(path: string): Promise<Json>;
  /** Polls until the answer satisfies `wanted`. */
  until(path: string, wanted: (json: Json) => boolean): Promise<Json>;
  /** The final state of a ticket. */
  finished(guid: unknown): Promise<Json>;
}

/** `urlOf` returns the program's current address. */
export function createVerifyCalls(urlOf: () => string): VerifyCalls {
  const get = async (path: string): Promise<Json> =>
    (await (await fetch(`${urlOf()}${path}`)).json()) as Json;
  const until = (path: string, wanted: (json: Json) => boolean): Promise<Json> =>
    eventually(() => get(path), wanted);
  return {
    async post(fields, path = '/api') {
      const answer = await fetch(`${urlOf()}${path}`, { method: 'POST', body: new URLSearchParams(fields) });
      expect(answer.status).toBe(200);
      return (await answer.json()) as Json;
    },
    get,
    until,
    finished: (guid) => until(statusOf(guid), ({ result }) => result !== 'Pending in queue'),
  };
}
