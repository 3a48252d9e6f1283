/** Types of the part of Prism that the page uses. `scripts/buildWeb.mjs` makes the module from Prism's files. */
declare module 'prismjs' {
  interface Token {
    readonly type: string;
    readonly content: string | Token | readonly (string | Token)[];
  }

  interface Grammar {
    readonly [name: string]: unknown;
  }

  const Prism: {
    readonly languages: Readonly<Record<string, Grammar | undefined>>;
    tokenize(text: string, grammar: Grammar): (string | Token)[];
  };
  export default Prism;
}
