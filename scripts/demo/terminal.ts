const color = process.stdout.isTTY && process.env['NO_COLOR'] === undefined;
const width = Math.min(Math.max(process.stdout.columns ?? 100, 60), 110);

const paint = (code: string) => (text: string) => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
export const bold = paint('1');
export const dim = paint('2');
export const green = paint('32');
export const red = paint('31');
const cyan = paint('36');

export function say(text = ''): void {
  console.log(text);
}

export function title(number: number, text: string): void {
  say(`\n${bold(`${number}. ${text}`)}`);
}

/** Prose, wrapped to the terminal, under an indent. */
export function explain(text: string, indent = '   '): void {
  for (const line of wrap(text, width - indent.length)) say(indent + line);
}

export function point(text: string): void {
  const [first = '', ...rest] = wrap(text, width - 5);
  say(`   ${cyan('-')} ${first}`);
  for (const line of rest) say(`     ${line}`);
}

/** Breaks between words; a word longer than a line stays whole. */
function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/).filter((each) => each !== '')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
