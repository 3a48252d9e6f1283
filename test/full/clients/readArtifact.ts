/** Reads a contract that Hardhat compiled, in the form that `deploy` takes. It has no sources and no settings. */
import { readFileSync } from 'node:fs';

import { readAbi } from '../../../src/domain/abi';
import type { WorldContract } from '../../support/worlds/verifiedWorld';

export function readArtifact(file: string): WorldContract {
  const { contractName, sourceName, abi, bytecode, deployedBytecode } = JSON.parse(
    readFileSync(file, 'utf8'),
  ) as Record<string, string>;
  return {
    path: sourceName!,
    name: contractName!,
    version: '',
    input: { language: 'Solidity', sources: {}, settings: {} },
    metadata: '',
    abi: readAbi(abi)!,
    creation: bytecode!,
    runtime: deployedBytecode!,
  };
}
