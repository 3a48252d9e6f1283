/** The anvil nodes that this process started and that still run, with their files: read from /proc, so Linux only. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface ChildNode {
  /** Of the shell between this process and the node. */
  readonly pid: number;
  /** Where the node puts its files. */
  readonly folder: string;
}

/** Nodes that are children of this process and have not ended. */
export function listChildNodes(): ChildNode[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((name) => {
    const folder = readNodeFolder(name);
    return folder === null ? [] : [{ pid: Number(name), folder }];
  });
}

/** The folder of the node that this shell of ours runs; null for any other process. */
function readNodeFolder(pid: string): string | null {
  try {
    const stat = readFileSync(join('/proc', pid, 'stat'), 'utf8');
    // State and parent stand behind the name, which is in parentheses.
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || Number(parent) !== process.pid) return null;
    const words = readFileSync(join('/proc', pid, 'cmdline'), 'utf8').split('\0');
    const at = words.indexOf('--cache-path');
    return at < 0 ? null : (words[at + 1] ?? null);
  } catch {
    // It has ended meanwhile.
    return null;
  }
}

/** Those of these nodes that left something: a process or files. */
export function listLeftovers(nodes: readonly ChildNode[]): ChildNode[] {
  const running = new Set(listChildNodes().map(({ pid }) => pid));
  return nodes.filter(({ pid, folder }) => running.has(pid) || existsSync(folder));
}
