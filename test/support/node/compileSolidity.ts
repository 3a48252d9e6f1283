/** Compiles the Solidity sources of the tests. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';

import type { Hex } from '../../../src/domain/hex';

interface Compiler {
  compile(input: string, callbacks: { import(path: string): { contents: string } }): string;
}
interface Output {
  readonly contracts: Readonly<
    Record<
      string,
      Readonly<Record<string, { readonly evm: { readonly bytecode: { readonly object: string } } }>>
    >
  >;
}

/**
 * Compiles one file for the rules of Shanghai. With `packages`, a folder of packages that the file imports, for those of
 * Cancun, which Balancer V3 needs. The result gives the creation code of a contract by its name.
 */
export function compileSolidity(path: string, packages?: string): (contract: string) => Hex {
  const { compile } = createRequire(__filename)('solc-0.8.30') as Compiler;
  const source = basename(path);
  const output = JSON.parse(
    compile(
      JSON.stringify({
        language: 'Solidity',
        sources: { [source]: { content: readFileSync(path, 'utf8') } },
        settings: {
          optimizer: { enabled: true, runs: 200 },
          evmVersion: packages === undefined ? 'shanghai' : 'cancun',
          outputSelection: { '*': { '*': ['evm.bytecode.object'] } },
        },
      }),
      { import: (name) => ({ contents: readFileSync(join(packages ?? '', name), 'utf8') }) },
    ),
  ) as Output;
  const contracts = Object.assign({}, ...Object.values(output.contracts)) as Output['contracts'][string];
  return (contract) => `0x${contracts[contract]!.evm.bytecode.object}`;
}
