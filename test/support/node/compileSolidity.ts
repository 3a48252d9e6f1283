/** Compiles the Solidity sources of the tests. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';

import type { Hex } from '../../../src/domain/hex';

interface Compiler {
  compile(input: string): string;
}
interface Output {
  readonly contracts: Readonly<
    Record<
      string,
      Readonly<Record<string, { readonly evm: { readonly bytecode: { readonly object: string } } }>>
    >
  >;
}

/** Compiles one file that imports no other. The result gives the creation code of a contract by its name. */
export function compileSolidity(path: string): (contract: string) => Hex {
  const { compile } = createRequire(__filename)('solc-0.8.30') as Compiler;
  const source = basename(path);
  const output = JSON.parse(
    compile(
      JSON.stringify({
        language: 'Solidity',
        sources: { [source]: { content: readFileSync(path, 'utf8') } },
        settings: {
          optimizer: { enabled: true, runs: 200 },
          evmVersion: 'shanghai',
          outputSelection: { '*': { '*': ['evm.bytecode.object'] } },
        },
      }),
    ),
  ) as Output;
  return (contract) => `0x${output.contracts[source]![contract]!.evm.bytecode.object}`;
}
