# attack: 08
# tries: start threads, to escape what holds for one thread
# kind: reach
# always: limits (threads: 1)
import threading

try:
    threading.Thread(target=int).start()
    print("BREACH")
except RuntimeError as error:
    print(error)
