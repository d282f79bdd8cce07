import { applicationRecord } from '../../applications/payload.ts';
import type { Told } from '../../db/told.ts';
import type { Transaction } from '../../db/transaction.ts';
import { recordEvent } from '../../events/record.ts';
import type { Application } from '../../generated/prisma/client.ts';
import { newId } from '../../ids.ts';
import type { Context } from '../../services.ts';
import type { Described } from './client-metadata.ts';

/** Creates an application that describes itself: a third party's, that nobody vouches for. Raises `Application.Created`. */
export async function createDescribed(
  tx: Transaction,
  context: Context,
  described: Described,
  from: Pick<Application, 'origin'> & Partial<Pick<Application, 'metadataUrl'>>,
): Promise<Told<Application>> {
  const now = context.clock.now();
  const created = await tx.application.create({
    data: {
      ...described,
      ...from,
      id: newId('Application'),
      isThirdParty: true,
      createdAt: now,
      updatedAt: now,
    },
  });
  const told = await recordEvent(tx, context, 'Application.Created', applicationRecord(created));
  return told.with(created);
}
