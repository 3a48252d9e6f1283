/** What Sourcify's API says about a contract that this service verified: the outputs of its compiler. */
import type { WorldContract } from '../../support/worlds/verifiedWorld';

export function wholeOf(contract: WorldContract): object {
  return {
    creationMatch: 'exact_match',
    metadata: JSON.parse(contract.metadata),
    storageLayout: { storage: expect.any(Array) },
    userdoc: { kind: 'user' },
    devdoc: { kind: 'dev' },
    stdJsonOutput: {
      contracts: { [contract.path]: { [contract.name]: { metadata: contract.metadata } } },
      sources: { [contract.path]: { id: 0 } },
    },
    creationBytecode: {
      recompiledBytecode: contract.creation,
      sourceMap: expect.stringMatching(/:/),
      linkReferences: {},
    },
    runtimeBytecode: { recompiledBytecode: contract.runtime, immutableReferences: expect.any(Object) },
  };
}
