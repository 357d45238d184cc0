export interface GeneratedFile {
  /** Relative to the repository's root. */
  path: string;
  content: string;
}

/** Every file of the repository that is made from sources in it. */
export async function generatedFiles(): Promise<GeneratedFile[]> {
  return [];
}
