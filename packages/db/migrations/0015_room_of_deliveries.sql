-- Of what is under way together, rows were settled in the batch in which they had been stored, and a page of 40 % had no room for all
-- of them: a third of the settlements wrote their rows anew with three index entries each. An attempt is now kept in half the
-- bytes, so that 30 % leaves room for every row of a page, and a page that is filled at ordinary rates still holds nine.
ALTER TABLE "deliveries" SET (fillfactor = 30);
