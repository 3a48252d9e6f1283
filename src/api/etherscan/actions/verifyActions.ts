/**
 * The actions verifysourcecode and checkverifystatus. The queue compiles and compares; these actions report
 * the state of a verification in the texts that clients compare. A state that may change soon is thrown as an
 * error, because the cache does not keep errors.
 */
import type { VerificationQueue, VerificationState } from '../../../domain/verificationQueue';
import type { EtherscanAnswer } from '../../../wire/dialects/etherscan';
import type { Ask } from '../action';
import { dialectError, ok, refuse, TEXTS } from '../answers';
import { textOf, type AskedParams } from '../askedParams';
import { readVerification } from '../verifyRequest';

/** Etherscan's texts, which hardhat and forge compare literally. */
const STATES = {
  pending: 'Pending in queue',
  verified: 'Pass - Verified',
  already: 'Already Verified',
  failed: 'Fail - Unable to verify',
} as const;
/**
 * The texts for a contract that is already verified. hardhat-verify looks at the start of `result` for the text of
 * its service, Etherscan or Blockscout; forge accepts both.
 */
const ALREADY_VERIFIED = 'Contract source code already verified';
const BLOCKSCOUT_ALREADY = 'Smart-contract already verified.';
const REASON_MAX = 1_000;

/** The limits of verification requests in words, for the OpenAPI document. */
export const VERIFY_BOUNDS =
  'verifysourcecode: a client address may have two open verifications, and addresses take turns. A ' +
  'compilation may use 30 s of processor time, 1 GiB of memory and 8 MiB of output. A repeated ' +
  'request that failed before gets the same ticket.';

export async function verifySourceCode({ deps, asked, chainId, client }: Ask): Promise<EtherscanAnswer> {
  const queue = deps.verifications?.() ?? null;
  if (queue === null) return refuse(TEXTS.noVerification);
  const request = await readVerification(asked, chainId);
  await checkCompiler(queue, request.compilerVersion);
  const submission = await queue.submit(request, client);
  switch (submission.kind) {
    case 'queued':
      return ok(submission.guid);
    case 'already_verified':
      throw dialectError(isForBlockscout(asked) ? BLOCKSCOUT_ALREADY : ALREADY_VERIFIED);
    case 'no_code':
      throw dialectError(`Unable to locate ContractCode at ${request.address}`);
    case 'client_busy':
      throw dialectError(
        `Too many open verifications: a client address may have ${submission.openMax}; retry after one has ended`,
      );
    case 'no_node':
      throw dialectError(
        `No node is configured for chain ${chainId}, so the code of the contract cannot be read`,
      );
  }
}

/**
 * Whether the client expects a Blockscout server. Such a client names no chain and sends `constructorArguments`,
 * which clients of Etherscan misspell as `constructorArguements`.
 */
function isForBlockscout(asked: AskedParams): boolean {
  const isSpelledRight = asked.has('constructorarguments') && !asked.has('constructorarguements');
  return isSpelledRight && !asked.has('chainid');
}

/** Throws if the compiler is not available, before the verification is queued and gets its guid. */
async function checkCompiler(queue: VerificationQueue, askedVersion: string): Promise<void> {
  const version = /\d+\.\d+\.\d+/.exec(askedVersion)?.[0] ?? '';
  const compilerVersions = await queue.listCompilers();
  if (compilerVersions.includes(version)) return;
  const installedText = compilerVersions.length === 0 ? 'none' : compilerVersions.join(', ');
  throw dialectError(
    `Invalid or not supported solc version ${askedVersion}; installed here: ${installedText}`,
  );
}

export function checkVerifyStatus({ deps, asked }: Ask): EtherscanAnswer {
  const guid = textOf(asked, 'guid') ?? '';
  const state = deps.verifications?.()?.status(guid) ?? null;
  if (state === null) throw dialectError(TEXTS.unknownUid);
  return answerOf(state);
}

function answerOf(state: VerificationState): EtherscanAnswer {
  switch (state.state) {
    case 'pending':
      throw dialectError(STATES.pending);
    case 'verified':
      return ok(STATES.verified);
    case 'already_verified':
      return refuse(STATES.already);
    case 'failed':
      // Clients compare `result` literally, so the reason goes into a separate field.
      return {
        status: '0',
        message: 'NOTOK',
        result: STATES.failed,
        reason: state.reason.slice(0, REASON_MAX),
      };
  }
}
