/** Lists the Anvil nodes that this process started, with their folders. Reads /proc, therefore Linux only. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface ChildNode {
  /** Process id of the shell between this process and the node. */
  readonly pid: number;
  /** The node's folder for files. */
  readonly folder: string;
}

/** Running nodes that are children of this process. */
export function listChildNodes(): ChildNode[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((name) => {
    const folder = readNodeFolder(name);
    return folder === null ? [] : [{ pid: Number(name), folder }];
  });
}

/** The folder of the node below this child shell; null for any other process. */
function readNodeFolder(pid: string): string | null {
  try {
    const stat = readFileSync(join('/proc', pid, 'stat'), 'utf8');
    // In /proc/<pid>/stat, state and parent follow the name in parentheses.
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || Number(parent) !== process.pid) return null;
    const commandLine = readFileSync(join('/proc', pid, 'cmdline'), 'utf8').split('\0');
    const optionIndex = commandLine.indexOf('--cache-path');
    return optionIndex < 0 ? null : (commandLine[optionIndex + 1] ?? null);
  } catch {
    // The process has ended since the list of processes was read.
    return null;
  }
}

/** Nodes that still run, or whose folder still exists. */
export function listLeftovers(nodes: readonly ChildNode[]): ChildNode[] {
  const runningPids = new Set(listChildNodes().map(({ pid }) => pid));
  return nodes.filter(({ pid, folder }) => runningPids.has(pid) || existsSync(folder));
}
