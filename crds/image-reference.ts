/**
 * What every runtime takes for the name of an image: what is refused here no registry is ever asked for, and no trying
 * again helps. Whether there is such an image is the runtime's to say.
 */
const HOST_PART = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?';
const HOST = `(?:${HOST_PART}(?:\\.${HOST_PART})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`;
const PART = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const NAME = `(?:${HOST}/)?${PART}(?:/${PART})*`;
const TAG = '[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}';
const DIGEST = '(?:sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128})';
const reference = new RegExp(`^${NAME}(?::${TAG})?(?:@${DIGEST})?$`);

export const IMAGE_ACCEPTED =
  '[HOST[:PORT]/]NAME[:TAG][@DIGEST], such as registry.example:5000/team/app:1.2; NAME is lower-case letters and digits, with . _ __ or - between them, and / between its parts';

export function isImageReference(text: string): boolean {
  return reference.test(text);
}
