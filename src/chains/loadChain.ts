/** Finds the description of the chain that the settings CHAIN_ID and CHAIN_CONFIG name. */
import type { ChainDescription } from '../domain/chainDescription';
import { AppError, errorText } from '../errors';
import { BUILT_IN_CHAINS, findBuiltInChain } from './builtInChains';
import { DEFAULT_CHAIN_ID, parseChainDescription, UINT32_MAX } from './parseChainDescription';

/** The chain description. Null if the description is wrong; `problems` then names the faults. */
export function loadChain(
  settings: { readonly CHAIN_CONFIG?: string; readonly CHAIN_ID?: string },
  readFile: (path: string) => string,
  problems: string[],
): ChainDescription | null {
  const path = settings.CHAIN_CONFIG;
  const chainId = readInteger(settings.CHAIN_ID ?? '', 1, UINT32_MAX);
  if (path !== undefined) return readChainFile(path, chainId, readFile, problems);
  // An invalid CHAIN_ID is already reported. Without it, the chain is unknown and its description cannot be
  // checked.
  if (settings.CHAIN_ID !== undefined && chainId === null) return null;
  const builtInChain = findBuiltInChain(chainId ?? DEFAULT_CHAIN_ID);
  if (builtInChain === null) {
    const builtInIds = BUILT_IN_CHAINS.map((chain) => chain.chainId).join(', ');
    problems.push(
      `CHAIN_ID: got "${chainId}"; allowed: ${builtInIds}, or another chain with a complete CHAIN_CONFIG`,
    );
  }
  return builtInChain;
}

function readChainFile(
  path: string,
  chainId: number | null,
  readFile: (path: string) => string,
  problems: string[],
): ChainDescription | null {
  try {
    return parseChainDescription(readText(path, readFile), path, chainId);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'bad_config') throw error;
    problems.push(error.message);
    return null;
  }
}

function readText(path: string, readFile: (path: string) => string): string {
  try {
    return readFile(path);
  } catch (error) {
    throw new AppError('bad_config', `CHAIN_CONFIG ${path}: the file cannot be read (${errorText(error)})`, {
      cause: error,
    });
  }
}

/** A decimal integer from `min` to `max`, else null. */
export function readInteger(text: string, min: number, max: number): number | null {
  if (!/^\d{1,10}$/.test(text)) return null;
  const value = Number(text);
  return value >= min && value <= max ? value : null;
}
