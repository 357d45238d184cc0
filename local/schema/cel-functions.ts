import './cel-lib-standard.ts';
import './cel-lib-strings.ts';
import './cel-lib-lists.ts';
import './cel-lib-kube.ts';

export { findOverload, overloadsOf } from './cel-registry.ts';
