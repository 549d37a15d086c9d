CREATE TABLE "activity_hours" (
	"project_id" uuid NOT NULL,
	"series" text NOT NULL,
	"subject" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"outcome" text NOT NULL,
	"count" bigint NOT NULL,
	CONSTRAINT "activity_hours_key" PRIMARY KEY("project_id","series","subject","at","outcome")
);
--> statement-breakpoint
CREATE TABLE "activity_minutes" (
	"project_id" uuid NOT NULL,
	"series" text NOT NULL,
	"subject" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"outcome" text NOT NULL,
	"count" bigint NOT NULL,
	CONSTRAINT "activity_minutes_key" PRIMARY KEY("project_id","series","subject","at","outcome")
);
--> statement-breakpoint
CREATE INDEX "activity_hours_at" ON "activity_hours" USING btree ("at");--> statement-breakpoint
CREATE INDEX "activity_minutes_at" ON "activity_minutes" USING btree ("at");