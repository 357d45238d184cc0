/**
 * Splits a reference into what Docker's create call wants. A pull without a tag would fetch every tag of the
 * repository, so one is always given.
 */
export function splitReference(reference: string): { repository: string; tag: string } {
  const at = reference.indexOf('@');
  if (at !== -1) {
    // name:tag@digest: the digest decides.
    const name = reference.slice(0, at);
    return { repository: stripTag(name).repository, tag: reference.slice(at + 1) };
  }
  const { repository, tag } = stripTag(reference);
  return { repository, tag: tag ?? 'latest' };
}

/** A colon after the last slash is a tag's; one before it is a port's. */
function stripTag(name: string): { repository: string; tag: string | undefined } {
  const colon = name.lastIndexOf(':');
  if (colon === -1 || colon < name.lastIndexOf('/')) return { repository: name, tag: undefined };
  return { repository: name.slice(0, colon), tag: name.slice(colon + 1) };
}
