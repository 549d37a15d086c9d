CREATE TABLE "standing_notices" (
	"program_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "standing_notices_key" PRIMARY KEY("program_id","kind")
);
--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "event_types" text[] DEFAULT '{}' NOT NULL;