import { afterAll } from 'vitest';
import { closeAll } from './cleanup.ts';

afterAll(closeAll);
