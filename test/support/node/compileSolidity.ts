/** Compiles the Solidity sources of the tests. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';

import type { Hex } from '../../../src/domain/hex';

interface Compiler {
  compile(input: string, callbacks: { import: (name: string) => { contents: string } }): string;
}
interface Output {
  readonly contracts: Readonly<
    Record<
      string,
      Readonly<Record<string, { readonly evm: { readonly bytecode: { readonly object: string } } }>>
    >
  >;
}

/** Source files have the names of their paths in this folder. */
const SUPPORT = dirname(__dirname);

/**
 * Compiles a file for the rules of Shanghai, or of Cancun with `packages`, a folder with node_modules. The result gives the
 * creation code of a contract by its name. A file that the source imports is in this repository, or in one of the packages.
 */
export function compileSolidity(path: string, packages?: string): (contract: string) => Hex {
  const { compile } = createRequire(__filename)('solc-0.8.30') as Compiler;
  const source = relative(SUPPORT, path);
  const readImport = (name: string) => {
    const folder = name.startsWith('@') ? join(packages ?? '', 'node_modules') : SUPPORT;
    return { contents: readFileSync(join(folder, name), 'utf8') };
  };
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
      { import: readImport },
    ),
  ) as Output;
  // An interface of an imported file may have the name of a contract.
  const contracts = Object.assign(
    {},
    ...Object.values(output.contracts),
    output.contracts[source],
  ) as Output['contracts'][string];
  return (contract) => `0x${contracts[contract]!.evm.bytecode.object}`;
}
