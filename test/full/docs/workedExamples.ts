/** Reads the worked examples of docs/development.md and applies their code blocks to a copy of the repository. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A code block that creates or edits a file. */
interface Edit {
  readonly path: string;
  /** True if the block is the complete text of a new file. Otherwise its lines are marked as in a diff. */
  readonly creates: boolean;
  readonly lines: readonly string[];
}

interface WorkedExample {
  readonly title: string;
  /** The size of the example, as the document states it. */
  readonly size: string;
  readonly edits: readonly Edit[];
  /** The commands of the example: lines of its `sh` blocks. */
  readonly commands: readonly string[];
  /** The chain descriptions of the example: texts of its `json` blocks. */
  readonly json: readonly string[];
}

/** The examples below the heading "Worked examples", one for each heading of level 3. */
export function readExamples(document_: string): WorkedExample[] {
  const [, section = ''] = document_.split(/^## Worked examples$/m);
  const [text = ''] = section.split(/^## /m);
  return text.split(/^### /m).slice(1).map(readExample);
}

/** Throws when no step names a file for the block, which is a mistake of the author. */
function readExample(text: string): WorkedExample {
  const [title = ''] = text.split('\n', 1);
  const edits: Edit[] = [];
  const commands: string[] = [];
  const json: string[] = [];
  let place = '';
  for (const [, prose = '', language = '', body = ''] of text.matchAll(/([^]*?)^```(\w*)\n([^]*?)^```$/gm)) {
    if (prose.trim() !== '') place = prose;
    const lines = body.replace(/\n$/, '').split('\n');
    if (language === 'sh') commands.push(...lines);
    else if (language === 'json') json.push(body);
    else edits.push({ ...placeOf(place, language, title), lines });
  }
  const [, size = ''] = /^The change: (.+)\.$/m.exec(text) ?? [];
  return { title, size, edits, commands, json };
}

/** The step before a block begins with "Create `path`", or with "In `path`," for a diff. */
function placeOf(prose: string, language: string, title: string): Pick<Edit, 'path' | 'creates'> {
  const [, verb, path] = /^\d+\. (Create|In) `([^`]+)`/m.exec(prose) ?? [];
  const creates = verb === 'Create';
  if (path === undefined || creates === (language === 'diff'))
    throw new Error(`"${title}": the step names no file for a block of ${language}: ${prose.trim()}`);
  return { path, creates };
}

/** Applies one block to the repository in `root`. Throws when the place is missing or not unique. */
export function applyEdit(root: string, { path, creates, lines }: Edit): void {
  const file = join(root, path);
  if (creates) {
    if (existsSync(file)) throw new Error(`${path} exists already`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${lines.join('\n')}\n`);
    return;
  }
  const textOf = (mark: string): string =>
    lines.flatMap((line) => (line[0] === mark ? [] : [`\n${line.slice(1)}`])).join('');
  const [before, after] = [textOf('+'), textOf('-')];
  // The text to replace consists of whole lines, so it must begin and end with a line break.
  const parts = `\n${readFileSync(file, 'utf8')}`.split(`${before}\n`);
  if (parts.length !== 2) throw new Error(`${path} has this text ${parts.length - 1} times:${before}`);
  writeFileSync(file, parts.join(`${after}\n`).slice(1));
}

/** The size of an example in words, such as "3 new and 1 changed files, 40 lines added, 1 removed". */
export function sizeOf(edits: readonly Edit[]): string {
  const created = new Set(edits.filter(({ creates }) => creates).map(({ path }) => path));
  const changed = new Set(edits.map(({ path }) => path)).size - created.size;
  const count = (mark: string): number =>
    edits.flatMap(({ creates, lines }) => lines.filter((line) => !creates && line[0] === mark)).length;
  const added = count('+') + edits.flatMap(({ creates, lines }) => (creates ? lines : [])).length;
  const files = created.size === 0 ? `${changed} changed` : `${created.size} new and ${changed} changed`;
  return `${files} files, ${added} lines added, ${count('-')} removed`;
}
