import { z } from 'zod';

/** `metav1.ObjectMeta`, as far as this project reads it. The API server owns its schema. */
export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  finalizers?: string[];
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  generateName?: string;
  managedFields?: unknown[];
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** `metav1.Condition`, with Kubernetes' own bounds. */
export const conditionSchema = z
  .object({
    type: z.string().min(1).max(316).describe('What the condition is about.'),
    status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds.'),
    observedGeneration: z.int().min(0).optional().describe('The generation of the spec this was said about.'),
    lastTransitionTime: z.iso.datetime({ offset: true }).describe('When the status last changed.'),
    reason: z.string().min(1).max(1024).describe('Why, in one word for programs.'),
    message: z.string().max(32768).describe('Why, in a sentence for people.'),
  })
  .describe('One observation about the object.');
export type Condition = z.infer<typeof conditionSchema>;
