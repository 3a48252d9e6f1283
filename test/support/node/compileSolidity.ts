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
 * Compiles a file. The result gives the creation code of a contract by its name. A file that the source imports is in this
 * repository, or in a package below `packages`.
 */
export function compileSolidity(path: string, packages = ''): (contract: string) => Hex {
  const { compile } = createRequire(__filename)('solc-0.8.30') as Compiler;
  const source = relative(SUPPORT, path);
  const readImport = (name: string) => {
    const folder = name.startsWith('@') ? join(packages, 'node_modules') : SUPPORT;
    return { contents: readFileSync(join(folder, name), 'utf8') };
  };
  const output = JSON.parse(
    compile(
      JSON.stringify({
        language: 'Solidity',
        sources: { [source]: { content: readFileSync(path, 'utf8') } },
        settings: {
          optimizer: { enabled: true, runs: 200 },
          evmVersion: 'shanghai',
          outputSelection: { [source]: { '*': ['evm.bytecode.object'] } },
        },
      }),
      { import: readImport },
    ),
  ) as Output;
  return (contract) => `0x${output.contracts[source]![contract]!.evm.bytecode.object}`;
}
