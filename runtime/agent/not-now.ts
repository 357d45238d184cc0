/** Something is not there that an act needs: looked at again when it is. */
export class NotNow extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotNow';
  }
}
