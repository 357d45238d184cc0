import type { Case } from '../types.ts';
import { access } from './access.ts';
import { apply } from './apply.ts';
import { changes } from './changes.ts';
import { definitions } from './definitions.ts';
import { expressions } from './expressions.ts';
import { holdfast } from './holdfast.ts';
import { lists } from './lists.ts';
import { objects } from './objects.ts';
import { requests } from './requests.ts';
import { server } from './server.ts';
import { tokens } from './tokens.ts';
import { validation } from './validation.ts';
import { watches } from './watches.ts';

/** By the name of the file that the answers of a real server are recorded in. */
export const suites: Record<string, Case[]> = {
  access,
  apply,
  changes,
  definitions,
  expressions,
  holdfast,
  lists,
  objects,
  requests,
  server,
  tokens,
  validation,
  watches,
};
