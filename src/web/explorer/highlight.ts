/** Splits source code into lines of coloured pieces, with the grammars of Prism. Makes no HTML. */
import Prism from 'prismjs';

/** A part of a line. `kind` is Prism's name of the token, such as `keyword`; null for plain text. */
export interface Piece {
  readonly kind: string | null;
  readonly text: string;
}

/** Larger files, and files with longer lines, stay without colours, so that the time of the grammars is bounded. */
const SIZE_MAX = 400_000;
const LINE_MAX = 2_000;

export function colouredLines(text: string, path: string): Piece[][] {
  const grammar = Prism.languages[/\.vyi?$/.test(path) ? 'python' : 'solidity'];
  const isTooLong = text.length > SIZE_MAX || text.split('\n').some((line) => line.length > LINE_MAX);
  if (grammar === undefined || isTooLong) return text.split('\n').map((line) => [{ kind: null, text: line }]);
  const lines: Piece[][] = [[]];
  const addText = (addedText: string, kind: string | null): void => {
    addedText.split('\n').forEach((line, index) => {
      if (index > 0) lines.push([]);
      if (line !== '') lines.at(-1)?.push({ kind, text: line });
    });
  };
  const visit = (tokens: ReturnType<typeof Prism.tokenize>, kind: string | null): void => {
    for (const token of tokens) {
      if (typeof token === 'string') addText(token, kind);
      else if (typeof token.content === 'string') addText(token.content, token.type);
      else visit('type' in token.content ? [token.content] : [...token.content], token.type);
    }
  };
  visit(Prism.tokenize(text, grammar), null);
  return lines;
}
