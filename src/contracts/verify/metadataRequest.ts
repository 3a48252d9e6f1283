/** Builds the standard JSON input of a contract from Solidity's metadata file and its sources. */
import type { VerificationDraft } from '../../domain/verificationQueue';
import type { ContractId, VerifiedContract } from '../../domain/verifiedContract';
import { mapByHash } from '../../domain/texts/textThread';
import { AppError } from '../../errors';
import { BrokenRecord } from '../import/foundContract';
import { readMetadata } from '../import/metadata';

/** `sources` are the contents in any order; their hashes name them. Throws bad_request. */
export async function draftFromMetadata(
  contract: ContractId,
  metadata: unknown,
  sources: readonly string[],
): Promise<VerificationDraft> {
  const byHash = await mapByHash(sources);
  try {
    const facts = { ...contract, status: 'match', verifiedAt: 0 } as const;
    const record = await readMetadata(JSON.stringify(metadata), facts, (hash) => byHash.get(hash) ?? null);
    return draftFromRecord(record.contract, record.sources);
  } catch (error) {
    if (error instanceof BrokenRecord) throw new AppError('bad_request', error.message);
    throw error;
  }
}

/** The request that would verify a record again. */
export function draftFromRecord(
  record: Pick<VerifiedContract, 'language' | 'settings' | 'path' | 'name' | 'compilerVersion'>,
  sources: readonly { readonly path: string; readonly content: string }[],
): VerificationDraft {
  const settings: unknown = JSON.parse(record.settings);
  return {
    input: {
      language: record.language,
      sources: Object.fromEntries(sources.map(({ path, content }) => [path, { content }])),
      settings,
    },
    compilerVersion: record.compilerVersion,
    contractName: `${record.path}:${record.name}`,
  };
}
