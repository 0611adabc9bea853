// The chapter page's comforts. Without them everything is readable: all steps are shown, and answers are
// sent as forms.

import { layOutWhileIdle } from "./layout.js";
import { lightTogether } from "./links.js";
import { prepareOrders } from "./order.js";
import { offerResume, watchPlaces } from "./places.js";
import { restoreTyped } from "./quiz.js";
import { stepThrough } from "./steps.js";

offerResume();
stepThrough();
watchPlaces();
lightTogether();
prepareOrders(document);
restoreTyped();
if (document.readyState === "complete") layOutWhileIdle();
else addEventListener("load", layOutWhileIdle);
