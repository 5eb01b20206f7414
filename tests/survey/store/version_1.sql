BEGIN TRANSACTION;
CREATE TABLE contexts (number INTEGER PRIMARY KEY, text TEXT NOT NULL);
INSERT INTO "contexts" VALUES(1,'context 0');
INSERT INTO "contexts" VALUES(2,'context 1');
CREATE TABLE items (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    source TEXT NOT NULL,
    text TEXT NOT NULL,
    context INTEGER REFERENCES contexts,
    log_prob REAL,
    expected INTEGER
);
INSERT INTO "items" VALUES(1,'item-0','human','text 0',1,0.0,NULL);
INSERT INTO "items" VALUES(2,'item-1','model','text 1',1,-1.0,NULL);
INSERT INTO "items" VALUES(3,'item-2','human','text 2',2,-2.0,NULL);
INSERT INTO "items" VALUES(4,'item-3','model','text 3',2,-3.0,NULL);
INSERT INTO "items" VALUES(5,'check-0','check','choose 1',NULL,NULL,1);
INSERT INTO "items" VALUES(6,'check-1','check','choose 2',NULL,NULL,2);
CREATE TABLE queue (
    item INTEGER PRIMARY KEY REFERENCES items,
    source TEXT NOT NULL,
    context INTEGER,
    shuffle INTEGER NOT NULL,
    load INTEGER NOT NULL DEFAULT 0
);
INSERT INTO "queue" VALUES(1,'human',1,4733147934555079189,1);
INSERT INTO "queue" VALUES(2,'model',1,2196110183377117006,1);
INSERT INTO "queue" VALUES(3,'human',2,5734169582596474475,1);
INSERT INTO "queue" VALUES(4,'model',2,1504400898071040630,1);
CREATE TABLE raters (
    number INTEGER PRIMARY KEY,
    token BLOB NOT NULL UNIQUE,
    origin TEXT NOT NULL CHECK (origin IN ('invited', 'joined', 'imported')),
    until REAL,
    seen REAL
);
INSERT INTO "raters" VALUES(1,X'F6DF7D41F24EC34AEF26671F91D301BF3D34F838CDFBE4C77C87A581DABC6E8D','invited',NULL,1.79503307740317535404e+09);
INSERT INTO "raters" VALUES(2,X'42A5859C625798145DEF782E8FBBDD53DE15CBEB4EFAA043EA561F6D191779AA','joined',NULL,1.79503307740380620952e+09);
CREATE TABLE study (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    settings TEXT NOT NULL,
    secret BLOB NOT NULL,
    admin BLOB NOT NULL,
    shared BLOB NOT NULL,
    shared_until REAL,
    shared_after INTEGER NOT NULL DEFAULT 0
);
INSERT INTO "study" VALUES(1,'{"title": "How typical?", "context_intro": "The article", "question": "How typical is this summary?", "note": "Take your time.", "choices": [{"value": 6, "label": "Very Typical", "help": "You expect to see this all the time."}, {"value": 5, "label": "Typical", "help": "You often expect to see something like this."}, {"value": 4, "label": "Average", "help": "Not surprised to see this, but it would not appear as often as a typical one."}, {"value": 3, "label": "Specific", "help": "This is correct, but only in a very specific setting."}, {"value": 2, "label": "Rare", "help": "There is some context where this is correct, but you would be surprised to see it."}, {"value": 1, "label": "Invalid", "help": "Not valid: it has clearly wrong facts or is grammatically incorrect."}], "ratings_wanted": 2, "items_per_rater": 4, "checks_per_rater": 1, "days": null, "introduction": "", "thanks": ""}',X'85703C12E2CF4FABB5C9D382C91A7CD695B2381B24E64642B0853C612593B8D6',X'64E865F5549836D5923D293C58BDF554D2B227E594832F23E27C86D1A4038B58',X'92532BB81A10E02807B9C19EB837A3E4A9217366D4CF2D493B7DAE8D67C39852',NULL,0);
CREATE TABLE tasks (
    number INTEGER PRIMARY KEY,
    rater INTEGER NOT NULL REFERENCES raters,
    place INTEGER NOT NULL,
    item INTEGER NOT NULL REFERENCES items,
    shown REAL NOT NULL,
    held_until REAL,
    value INTEGER,
    answered REAL,
    UNIQUE (rater, place),
    UNIQUE (item, rater),
    CHECK ((value IS NULL) = (answered IS NULL)),
    CHECK (value IS NULL OR held_until IS NULL)
);
INSERT INTO "tasks" VALUES(1,1,0,5,1.79503307740213012694e+09,NULL,4,1.79503307740280103679e+09);
INSERT INTO "tasks" VALUES(2,1,1,4,1.79503307740293908123e+09,NULL,4,1.79503307740309834476e+09);
INSERT INTO "tasks" VALUES(3,1,2,1,1.79503307740317535404e+09,1.79503487740317249294e+09,NULL,NULL);
INSERT INTO "tasks" VALUES(4,2,0,5,1.7950330774033133983e+09,NULL,4,1.7950330774035139084e+09);
INSERT INTO "tasks" VALUES(5,2,1,2,1.7950330774036021232e+09,NULL,4,1.7950330774037325382e+09);
INSERT INTO "tasks" VALUES(6,2,2,3,1.79503307740380620952e+09,1.79503487740380334855e+09,NULL,NULL);
CREATE TABLE withdrawn (
    number INTEGER PRIMARY KEY,
    task INTEGER NOT NULL REFERENCES tasks,
    value INTEGER NOT NULL,
    answered REAL NOT NULL,
    withdrawn REAL NOT NULL
);
CREATE INDEX queue_order ON queue (load, source, shuffle);
CREATE INDEX raters_joined ON raters (number) WHERE origin = 'joined';
CREATE INDEX tasks_open ON tasks (rater, place) WHERE value IS NULL;
CREATE INDEX tasks_held ON tasks (held_until) WHERE held_until IS NOT NULL;
CREATE INDEX withdrawn_task ON withdrawn (task);
CREATE TRIGGER task_given AFTER INSERT ON tasks BEGIN
    UPDATE queue SET load = load + (new.value IS NOT NULL OR new.held_until IS NOT NULL) WHERE item = new.item;
END;
CREATE TRIGGER task_changed AFTER UPDATE OF value, held_until ON tasks BEGIN
    UPDATE queue SET load = load + (new.value IS NOT NULL OR new.held_until IS NOT NULL)
        - (old.value IS NOT NULL OR old.held_until IS NOT NULL) WHERE item = new.item;
END;
COMMIT;
