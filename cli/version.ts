import packageJSON from '../package.json' with { type: 'json' };

/** Of the whole of Holdfast: controller, agent and command are released together. */
export const VERSION: string = packageJSON.version;
